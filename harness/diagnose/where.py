"""Where the wrong elements are, and that nowhere else is one: which region, or bound of a value, holds them best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import lgamma, log, log2

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.regions import (
    CHOSEN_THRESHOLD_BITS,
    PLACE_LABELS,
    Mask,
    Region,
    broadcasts,
    extend_mask,
    find_comparable,
    find_known_regions,
    find_slice_axes,
    find_tables,
    index_along,
    list_float_inputs,
)
from opproof.harness.diagnose.wrong import MIN_EVIDENCE_BITS, WrongTensor
from opproof.harness.judge.bound import C

#: How much of a place is wrong at least, of what could show it: a loop that forgets a place forgets all of it.
_MIN_FORGOTTEN_SHARE = 0.75
#: Labels of regions that a value bounds; how much of one is wrong at least.
_VALUE_LABELS, _MIN_WRONG_SHARE = ("large", "half"), 0.5
#: How much of all elements such a region is at most, also where everything beyond the bound is wrong.
_MAX_REGION_SHARE = 0.7
_MAX_WHOLE_REGION_SHARE = 0.9
#: Elements up to which regions are held all at once, to count them.
_MAX_HELD_ELEMENTS = 2**14


def find_only_there(w: WrongTensor) -> tuple[str, str] | None:
    """The region that the wrong elements fill best, all of them inside it, beyond chance.

    Of some that are NaN where a number is expected: they have one cause, which the other wrong elements may not share.
    """
    found, lost = _find_fullest(w), w.lost
    if lost.any() and (found is None or found[0] < 1):
        found = _find_fullest(replace(w, failing=lost, units=np.where(lost, w.units, 0))) or found
    return None if found is None else (found[1].label, describe_region(w, found[1]))


def describe_region(w: WrongTensor, region: Region) -> str:
    """That the wrong elements are there alone; where there is NaN for numbers, that the NaN is."""
    lost = w.lost
    if not lost.any() or (lost & ~region.mask).any():
        return f"only {region.said} of {w.what} are wrong"
    return f"only {region.said} of {w.what} are NaN" + ("" if lost[w.failing].all() else "; others are wrong numbers")


def _find_fullest(w: WrongTensor) -> tuple[float, Region] | None:
    found = _find_best(w, find_known_regions(w))
    if found is None or found[0] < 1:  # a place that holds right elements too may be a value that fits better
        value = _find_best(w, find_thresholds(w))
        if value is not None and (found is None or value[0] == 1):
            found = value
    return found


def as_good(w: WrongTensor) -> list[Region]:
    """The region that fills best and, of a place, what holds the same elements: other multiples, the last slice."""
    found = _find_best(w, find_known_regions(w)) if w.got.size <= _MAX_HELD_ELEMENTS else None
    if found is None:
        return []
    if found[1].label not in PLACE_LABELS:
        return [found[1]]
    same = [r for r in find_known_regions(w) if r.label in PLACE_LABELS and np.array_equal(r.mask, found[1].mask)]
    return [r for r in same if not r.double]


def _find_best(w: WrongTensor, regions: Iterator[Region]) -> tuple[float, Region] | None:
    """How far the best region is filled, and the region.

    Outside, every element must be right without doubt: an error that grows smoothly has no region.
    """
    best: tuple[float, Region] | None = None
    doubtful = w.failing | (w.units > (3 if DTYPES[w.dtype].digits < 24 else C / 2))
    unlike = bool((~np.isfinite(w.got) & np.isfinite(w.expected))[w.failing].all())
    named, right = list(find_tables(w)), _find_right(w)
    telling, alike = _find_telling(w), find_comparable(w, named)
    tried, price = _estimate_choice(w, regions)
    for region in tried:
        shown = telling & alike if region.label in PLACE_LABELS else telling
        inside = region.mask & shown
        if not 0 < inside.sum() < shown.sum() or (doubtful & ~region.mask).any():
            continue
        filled = float(w.failing[inside].mean())
        cost = price if region.cost == CHOSEN_THRESHOLD_BITS else region.cost
        axes = find_slice_axes(w, named, region, shown) if region.label in PLACE_LABELS else None
        bits = _measure_evidence(w.failing, region, shown, region.axis if axes is None else axes) - cost
        if region.cost and filled < 1:  # where it begins is then a choice too
            bits -= log(w.failing.size) / log(2)
        enough = filled >= _min_share_of(region) and _is_told_by(w, right, region)
        least = _min_bits_of(region, filled, unlike) if axes is None else _least_of_slices(region, filled)
        if enough and bits >= least and (best is None or filled > best[0]):
            best = filled, region
    return best


def _min_share_of(region: Region) -> float:
    """How much of a region is wrong at least."""
    if region.label in PLACE_LABELS:
        return _MIN_FORGOTTEN_SHARE
    return 0.5 if region.cost or region.label == "half" else 0.2


def _is_told_by(w: WrongTensor, right: Mask, region: Region) -> bool:
    """Whether a bound says where an error is: few right elements lie beyond it, also of those too small to show one."""
    if region.label not in _VALUE_LABELS:
        return True
    wrong, beside = int((w.failing & region.mask).sum()), int((right & region.mask).sum())
    return wrong >= _MIN_WRONG_SHARE * (wrong + beside) and bool(
        region.mask.mean() <= (_MAX_REGION_SHARE if beside else _MAX_WHOLE_REGION_SHARE)
    )


def _find_right(w: WrongTensor) -> Mask:
    """Numbers that are right to the digits of the dtype, and not only as far as their condition allows."""
    right = ~w.failing & ~_find_constant(w)
    if w.expected.dtype.kind == "f":
        right &= np.abs(w.got - w.expected) <= C * DTYPES[w.dtype].u * np.abs(w.expected)
    return np.asarray(right)


def _min_bits_of(region: Region, filled: float, unlike: bool) -> float:
    """Bits that a region takes: few where it is a usual one and full of wrong elements."""
    if region.label in PLACE_LABELS or (unlike and region.cost):
        return 4.0 if filled == 1 else MIN_EVIDENCE_BITS
    if region.label == "kinks" and filled >= 0.5:  # at a kink some values are allowed that are elsewhere wrong
        return 5.0
    return 7.0 if filled == 1 and not region.cost else MIN_EVIDENCE_BITS


def _least_of_slices(region: Region, filled: float) -> float:
    """The same of slices of a table, of which few are named; one in three is told where it is the first or the last."""
    return 1.5 if filled == 1 and region.label in ("first", "last") else MIN_EVIDENCE_BITS


def _find_telling(w: WrongTensor) -> Mask:
    """Elements in which such an error would have shown: no infinity, nor what is too small for a relative error."""
    if w.expected.dtype.kind != "f":
        return w.failing | ~_find_constant(w)
    relative = np.median((np.abs(w.got - w.expected) / np.abs(w.expected))[w.failing])
    finite = np.isfinite(w.expected) & ~_find_constant(w)
    if not np.isfinite(relative):
        return w.failing | finite
    shown: Mask = w.failing | (finite & (relative * np.abs(w.expected) > w.tolerance_of(w.expected, C)))
    return shown


def _find_constant(w: WrongTensor) -> Mask:
    wrong = w.got[w.failing]
    return np.asarray((w.expected == wrong[0]) & (wrong == wrong[0]).all())


def _estimate_choice(w: WrongTensor, regions: Iterator[Region]) -> tuple[Iterable[Region], float]:
    """The regions, and in bits what it costs that the data chose one of them: as many as hold different elements."""
    if w.got.size > _MAX_HELD_ELEMENTS:
        return regions, CHOSEN_THRESHOLD_BITS
    tried = list(regions)
    return tried, log(max(len({r.mask.tobytes() for r in tried if r.cost == CHOSEN_THRESHOLD_BITS}), 1)) / log(2)


def _measure_evidence(failing: Mask, region: Region, telling: Mask, axes: int | tuple[int, ...] | None) -> float:
    """-log2 of the chance that as many elements (or slices), drawn at random, all lie inside."""
    mask = region.mask & telling
    if axes is not None:
        mask, failing, telling = (np.any(m, axis=axes, keepdims=True) for m in (mask, failing, telling))
    inside, wrong = int(mask.sum()), int(failing.sum())
    return log2_of_subsets(int(telling.sum()), wrong) - log2_of_subsets(inside, wrong)


def log2_of_subsets(n: int, k: int) -> float:
    """log2 of how many sets of k there are among n."""
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2)


def _iter_halves(w: WrongTensor) -> Iterator[Region]:
    for name, v in list_float_inputs(w):
        for said, mask in ((f"where {name} < 0", v < 0), (f"where {name} > 0", v > 0)):
            yield from extend_mask(w, "half", said, mask)


def find_thresholds(w: WrongTensor) -> Iterator[Region]:
    """Where an input, or the expected value, is large (or small) beyond a threshold taken from the data."""
    yield from _iter_halves(w)
    arrays = list_float_inputs(w)
    if w.expected.dtype.kind == "f":
        arrays.append(("the expected value", w.expected))
    for name, v in arrays:
        for said, key in ((f"|{name}| ≥", np.abs(v)), (f"{name} ≥", v), (f"{name} ≤", -v)):
            for over, axis in iter_keys(w, np.where(np.isnan(key), -np.inf, key)):
                least = float(over[w.failing].min())
                number = -least if said.endswith("≤") else least
                slices = "elements" if axis is None else "rows"
                if np.isinf(number) and not w.failing[over >= least].all():
                    continue  # infinities of the other sign are right
                beyond = (
                    f"{said} {number:.4g}" if np.isfinite(number) else f"{name} is {_format_infinite(said, number)}"
                )
                yield Region("large", f"the {slices} where {beyond}", over >= least, CHOSEN_THRESHOLD_BITS, axis)
    for name, v in list_float_inputs(w):
        yield from _iter_interval(w, name, v)
    for axis in range(w.got.ndim):
        index = index_along(w.got.shape, axis)
        first = int(index[w.failing].min()) if w.failing.any() else 0
        if first > 1:  # as of a window of three keys
            yield Region(
                "beyond", f"the elements from {first} on along axis {axis}", index >= first, CHOSEN_THRESHOLD_BITS
            )


def _iter_interval(w: WrongTensor, name: str, v: Array) -> Iterator[Region]:
    """From one number to another: as where a bound is a little off."""
    if not broadcasts(v.shape, w.got.shape):
        return
    key = np.broadcast_to(v, w.got.shape)
    least, most = (float(end) for end in (key[w.failing].min(), key[w.failing].max()))
    if np.isfinite(least) and np.isfinite(most) and least < most:
        said = f"the elements where {least:.4g} ≤ {name} ≤ {most:.4g}"
        yield Region("large", said, (key >= least) & (key <= most), 2 * log2(w.got.size))


def _format_infinite(said: str, number: float) -> str:
    return "infinite" if said.startswith("|") else str(number)


def iter_keys(w: WrongTensor, key: Array) -> Iterator[tuple[Array, int | None]]:
    """`key` per element of the wrong tensor, or the largest of a slice along an axis."""
    shape = w.got.shape
    if broadcasts(key.shape, shape):
        yield np.broadcast_to(key, shape), None
    for axis in range(key.ndim):
        if key.shape[axis] == 0:
            continue
        kept = key.max(axis=axis, keepdims=True)
        if key.shape == shape:
            yield np.broadcast_to(kept, shape), axis
        elif kept.shape == shape or np.squeeze(kept, axis).shape == shape:
            yield kept.reshape(shape), None
