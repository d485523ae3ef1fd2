"""Mutants that change what comes back: factors, single elements, tails, rows, stale results, a careless last store."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from mutation.mutant import (
    Arrays,
    Change,
    Mutant,
    Profile,
    ReferenceCall,
    apply_change,
    can_hide,
    clear_tail,
    of_results,
    on_all,
)
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype, round_to

#: Applied to every float result.
_ALL: tuple[tuple[str, Change], ...] = (
    ("zeros", np.zeros_like),
    ("doubled", lambda y: 2 * y),
    ("times 1 + 2^-8", lambda y: (1 + 2.0**-8) * y),
    ("times 1 - 2^-8", lambda y: (1 - 2.0**-8) * y),
    ("negated", np.negative),
)

#: By how much one element is wrong: a few spacings of the dtype.
_ONE = {"f32": 1.001, "f16": 1.02, "bf16": 1.1, "f8e4m3": 1.5, "f8e5m2": 2.0}


def result_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    if profile.moving:
        for name, change in _ALL:
            tie = DTYPES[profile.dtype].digits <= 8 and "2^-8" in name  # of powers of two, which then stay
            yield of_results(name, change, must_show=not tie)
        yield of_results("one element zeroed", _change_one(lambda v: 0 * v))
        factor = _ONE[profile.dtype]
        yield of_results(f"one element times {factor}", _change_one(lambda v: factor * v))
        yield of_results("one element NaN", _change_one(lambda v: np.nan * v))
        yield from _make_result_mutants(profile)
    if profile.rank and (profile.moving or profile.discrete):
        yield from _make_place_mutants(profile)
    if profile.read or (profile.mode == "gradient" and profile.moving):
        yield Mutant("the call before's results", _return_stale)
        if profile.rank:
            yield Mutant("the last row of the call before", _return_stale_row)
    if profile.mode == "forward":
        yield from _make_discrete_mutants()


def _make_place_mutants(profile: Profile) -> Iterator[Mutant]:
    """Elements that come out wrong, or come from elsewhere, by where they stand."""

    def of(name: str, change: Change, *, must_show: bool = True) -> Mutant:
        return Mutant(name, lambda call: on_all(change, call.right), must_show=must_show)

    rank, uniform = profile.rank, "constant" in profile.op.trivial(profile.mode)
    for width in (4, 8, 16, 32):
        yield of(f"inner axis past a multiple of {width} zero", clear_tail(width))
        yield of(f"memory past a multiple of {width} zero", _clear_memory_tail(width))
    for count in (256, 1024):
        yield of(f"memory past element {count} zero", _clear_past(count))
    yield of("first row everywhere", _repeat_first_along(0), must_show=rank > 1 and not uniform)
    yield of("first slice of axis 1 everywhere", _repeat_first_along(1), must_show=False)
    if profile.moving:
        yield of_results("last row times 1.5", _scale_row(-1))
        yield of_results("first row times 1.5", _scale_row(0))
    yield of("one on along the inner axis", lambda y: np.roll(y, 1, -1) if y.ndim else y, must_show=not uniform)
    yield of("last two axes swapped", _swap_axes, must_show=rank > 1 and not uniform)


def _swap_axes(y: Array) -> Array:
    return np.swapaxes(y, -1, -2).reshape(y.shape) if y.ndim > 1 else y


def _change_one(change: Change) -> Change:
    """Changes one element: the first in the second half that is not zero, else the first such."""

    def changes(y: Array) -> Array:
        with np.errstate(all="ignore"):
            candidates = np.flatnonzero(np.isfinite(y) & (y != 0))
        if candidates.size:
            i = candidates[np.searchsorted(candidates, y.size // 2) % candidates.size]
            y.reshape(-1)[i] = change(y.reshape(-1)[i])
        return y

    return changes


def _clear_memory_tail(width: int) -> Change:
    def change(y: Array) -> Array:
        if y.size > width:
            y.reshape(-1)[y.size - y.size % width :] = 0
        return y

    return change


def _clear_past(count: int) -> Change:
    def change(y: Array) -> Array:
        y.reshape(-1)[count:] = 0
        return y

    return change


def _repeat_first_along(axis: int) -> Change:
    def change(y: Array) -> Array:
        if y.ndim > axis + 1:
            y[...] = np.take(y, [0], axis=axis)
        return y

    return change


def _scale_row(index: int) -> Change:
    def change(y: Array) -> Array:
        if y.ndim and len(y) > 1:
            y[index] *= 1.5
        return y

    return change


def _make_result_mutants(profile: Profile) -> Iterator[Mutant]:
    """One of several outputs or gradients is wrong."""
    if profile.results < 2:
        return
    gradient = profile.mode == "gradient"
    for i in sorted(profile.graded) if gradient else range(profile.results):
        name = f"gradient of {profile.inputs[i]}" if gradient else f"output {i}"
        for said, change in (("zero", np.zeros_like), ("times 1 + 2^-8", _ALL[2][1]), ("negated", np.negative)):
            yield Mutant(f"{name} {said}", _at(i, change))


def _at(i: int, change: Change) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        found = list(call.right)
        if i < len(found) and found[i] is not None:
            y = found[i]
            found[i] = apply_change(y, change) if y is not None and y.dtype.kind not in "iub" else _change_discrete(y)
        return found

    return results


def _return_stale(call: ReferenceCall) -> Arrays:
    assert call.before is not None
    return call.before()


def _return_stale_row(call: ReferenceCall) -> Arrays:
    assert call.before is not None
    found = []
    for y, old in zip(call.right, call.before(), strict=True):
        if y is None or old is None or y.ndim == 0 or y.shape != old.shape:
            found.append(y)
            continue
        mixed = y.copy()
        mixed[-1:] = old[-1:]
        found.append(mixed)
    return found


def _make_discrete_mutants() -> Iterator[Mutant]:
    """Integers and truth values; a mutant is none where the results are floats."""

    def of(name: str, change: Change) -> Mutant:
        def results(call: ReferenceCall) -> Arrays:
            right = call.right
            return [change(y.copy()) if y is not None and y.dtype.kind in "iub" and y.size else y for y in right]

        return can_hide(name, results)

    def one(y: Array) -> Array:
        y.reshape(-1)[y.size // 2] = _change_discrete(y).reshape(-1)[y.size // 2]
        return y

    def last(y: Array) -> Array:
        y.reshape(-1)[-1] = _change_discrete(y).reshape(-1)[-1]
        return y

    yield of("integers one more, truth inverted", _change_discrete)
    yield of("one integer or truth value other", one)
    yield of("the last integer or truth value other", last)
    yield of("integers zero, nothing true", np.zeros_like)
    yield of("integers one, everything true", np.ones_like)


def _change_discrete(y: Array | None) -> Array:
    assert y is not None
    return ~y if y.dtype.kind == "b" else y + y.dtype.type(1)


Wide = NDArray[np.float64]
StoreChange = Callable[[Wide, Dtype], Wide]

#: Factors that a judge of the dtype must see. 0.2 % is less than half a spacing of bf16: there it is honest.
FACTORS = {
    "f32": ("1.02", "1 + 2^-20"),
    "f16": ("1.02", "1.005", "1.003", "1.002"),
    "bf16": ("1.02",),
    "f8e4m3": ("1.5",),
    "f8e5m2": ("2",),
}


def store_mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    if not profile.moving:
        return
    for text in FACTORS[profile.dtype]:
        yield Mutant(f"times {text} before it is stored", _change_before_store(_scale_by(text)))
    if profile.dtype != "f32":
        yield can_hide("truncated where it is stored", _change_before_store(truncate_to))
        yield can_hide("half an ulp more before it is stored", _change_before_store(lambda y, d: y + half_ulp_of(y, d)))
        yield can_hide("half an ulp less before it is stored", _change_before_store(lambda y, d: y - half_ulp_of(y, d)))


def _scale_by(text: str) -> StoreChange:
    factor = 1 + 2.0**-20 if text == "1 + 2^-20" else float(text)
    return lambda y, _: y * factor


def truncate_to(y: Wide, dtype: Dtype) -> Wide:
    """`y` with the digits cut off that `dtype` has no room for."""
    with np.errstate(all="ignore"):
        step = 2 * half_ulp_of(y, dtype)
        return np.where(np.isfinite(y) & (y != 0), np.trunc(y / step) * step, y)


def half_ulp_of(y: Wide, dtype: Dtype) -> Wide:
    """Half the spacing of `dtype` at `y`, with the sign of `y`; 0 for 0, NaN and infinity."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(y)
        spacing = np.ldexp(1.0, np.maximum(exponent, dtype.min_exponent + 1) - dtype.digits)
        return np.where(np.isfinite(y), np.sign(y) * spacing / 2, 0.0)


def _change_before_store(change: StoreChange) -> Callable[[ReferenceCall], Arrays]:
    def results(call: ReferenceCall) -> Arrays:
        dtype = DTYPES[call.dtype]
        return [y if y is None or y.dtype.kind != "f" else _in(dtype, y, change) for y in call.exact]

    return results


def _in(dtype: Dtype, y: Array, change: StoreChange) -> Array:
    return np.asarray(round_to(change(y.astype(np.float64), dtype), dtype)).astype(dtype.numpy)
