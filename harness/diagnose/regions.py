"""Sets of elements that might be the wrong ones: tails, slices, ties and kinks, large arguments."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

import numpy as np

from opproof.cases._every import is_every
from opproof.harness.diagnose.named import slices
from opproof.harness.diagnose.places import along, places
from opproof.harness.diagnose.ranges import out_of_range, truths
from opproof.harness.diagnose.region import CHOSEN, Mask, Region, broadcasts
from opproof.harness.diagnose.wrong import Wrong
from opproof.harness.truth.data import distances
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES


def known(w: Wrong) -> Iterator[Region]:
    yield from _values(w)
    if _in_order(w):  # a threshold that falls on such a place, to the element, is unlikely
        yield from (r for r in places(w) if r.label in ("tail", "last", "first") and np.array_equal(r.mask, w.failing))
    else:
        yield from places(w)


def _in_order(w: Wrong) -> bool:
    """Whether values lie in an order, so that places and rows say what they are."""
    return is_every(w.case.fill) or w.case.fill == "branches"


def _values(w: Wrong) -> Iterator[Region]:
    """Where an input is special: NaN, infinite, at a kink, zero, tied."""
    arrays = floats(w)
    for name, v in arrays:
        for said, mask in (
            (f"where {name} is NaN", np.isnan(v)),
            (f"where {name} is infinite", np.isinf(v)),
            (f"where {name} is inf", v == np.inf),
            (f"where {name} is -inf", v == -np.inf),
        ):
            yield from _spread(w, "special", said, mask)
    if arrays and w.op.kinks is not None:
        named = {str(n): v for n, v in zip(w.names, w.inputs, strict=True) if v is not None and n is not None}
        at = distances(w.case, w.op, named) == 0
        yield from _spread(w, "kinks", "at kinks or ties", at)
    for name, v in arrays:
        yield from _spread(w, "kinks", f"where {name} = 0", v == 0)
        yield from _spread(w, "kinks", f"where {name} lies half-way between integers", np.abs(v) % 1 == 0.5)
        if u := DTYPES[w.dtype].u:
            # From 1 / 2u on all numbers of the dtype are integers: what is wrong there is so by their size.
            whole = (np.abs(v) % 1 == 0) & (np.abs(v) < 0.5 / u)
            yield from _spread(w, "kinks", f"where {name} is an integer", whole)
        yield from _spread(w, "kinks", f"at ties of {name}", _ties(v))
    yield from slices(w)
    yield from out_of_range(w, arrays)
    yield from truths(w)
    if len(arrays) >= 2:
        (a, x), (b, y) = arrays[:2]
        if broadcasts(x.shape, w.got.shape) and broadcasts(y.shape, w.got.shape):
            yield from _spread(w, "kinks", f"where {a} = {b}", x == y)


def _ties(v: Array) -> Mask:
    """Elements equal to another one of their row."""
    if v.ndim == 0:
        return np.zeros((), dtype=bool)
    order = np.sort(v, axis=-1)
    repeated = np.concatenate([order[..., 1:] == order[..., :-1], np.zeros((*v.shape[:-1], 1), bool)], axis=-1)
    tied = np.zeros(v.shape, dtype=bool)
    for row in np.ndindex(v.shape[:-1]):
        tied[row] = np.isin(v[row], order[row][repeated[row]])
    return tied


def _spread(w: Wrong, label: str, said: str, mask: Mask) -> Iterator[Region]:
    """The region of a mask over an input: element by element, or the slices that hold one."""
    shape = w.got.shape
    if broadcasts(mask.shape, shape):
        yield Region(label, f"the elements {said}", np.broadcast_to(mask, shape))
    for axis in range(0 if _in_order(w) else mask.ndim):
        kept = np.any(mask, axis=axis, keepdims=True)
        rows: Mask = np.squeeze(kept, axis)
        if mask.shape == shape:
            yield Region(label, f"the rows {said}", np.broadcast_to(kept, shape), axis=axis)
        elif rows.shape == shape:
            yield Region(label, f"the rows {said}", rows)
        elif kept.shape == shape:
            yield Region(label, f"the rows {said}", kept)


def _halves(w: Wrong) -> Iterator[Region]:
    """Where an input is negative, or positive."""
    for name, v in floats(w):
        for said, mask in ((f"where {name} < 0", v < 0), (f"where {name} > 0", v > 0)):
            yield from _spread(w, "half", said, mask)


def thresholds(w: Wrong) -> Iterator[Region]:
    """Where an input, or the expected value, is large (or small) beyond a threshold taken from the data."""
    yield from _halves(w)
    arrays = floats(w)
    if w.expected.dtype.kind == "f":
        arrays.append(("the expected value", w.expected))
    for name, v in arrays:
        for said, key in ((f"|{name}| ≥", np.abs(v)), (f"{name} ≥", v), (f"{name} ≤", -v)):
            for over, axis in keys(w, np.where(np.isnan(key), -np.inf, key)):
                least = float(over[w.failing].min())
                number = -least if said.endswith("≤") else least
                slices = "elements" if axis is None else "rows"
                if np.isinf(number) and not w.failing[over >= least].all():
                    continue  # infinities of the other sign are right
                beyond = f"{said} {number:.4g}" if np.isfinite(number) else f"{name} is {_infinite(said, number)}"
                yield Region("large", f"the {slices} where {beyond}", over >= least, CHOSEN, axis)
    for name, v in floats(w):
        yield from _interval(w, name, v)
    for axis in range(w.got.ndim):
        index = along(w.got.shape, axis)
        first = int(index[w.failing].min()) if w.failing.any() else 0
        if first > 1:  # as of a window of three keys
            yield Region("beyond", f"the elements from {first} on along axis {axis}", index >= first, CHOSEN)


def _interval(w: Wrong, name: str, v: Array) -> Iterator[Region]:
    """From one number to another: as where a bound is a little off."""
    if not broadcasts(v.shape, w.got.shape):
        return
    key = np.broadcast_to(v, w.got.shape)
    least, most = (float(end) for end in (key[w.failing].min(), key[w.failing].max()))
    if np.isfinite(least) and np.isfinite(most) and least < most:
        said = f"the elements where {least:.4g} ≤ {name} ≤ {most:.4g}"
        yield Region("large", said, (key >= least) & (key <= most), 2 * log2(w.got.size))


def _infinite(said: str, number: float) -> str:
    return "infinite" if said.startswith("|") else str(number)


def keys(w: Wrong, key: Array) -> Iterator[tuple[Array, int | None]]:
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


def floats(w: Wrong) -> list[tuple[str, Array]]:
    """The inputs of floats, by name."""
    return [(str(n), v) for n, v in zip(w.names, w.inputs, strict=True) if v is not None and v.dtype.kind == "f"]
