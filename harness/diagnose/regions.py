"""Sets of elements that might be the wrong ones: tails, slices, ties and kinks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opproof.cases._every import is_every
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.named import slices
from opproof.harness.diagnose.places import places
from opproof.harness.diagnose.ranges import out_of_range, truths
from opproof.harness.diagnose.region import Mask, Region, broadcasts
from opproof.harness.diagnose.wrong import Wrong
from opproof.harness.reference.data import distances


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
            yield from spread(w, "special", said, mask)
    if arrays and w.op.kinks is not None:
        named = {str(n): v for n, v in zip(w.names, w.inputs, strict=True) if v is not None and n is not None}
        at = distances(w.case, w.op, named) == 0
        yield from spread(w, "kinks", "at kinks or ties", at)
    for name, v in arrays:
        yield from spread(w, "kinks", f"where {name} = 0", v == 0)
        yield from spread(w, "kinks", f"where {name} lies half-way between integers", np.abs(v) % 1 == 0.5)
        if u := DTYPES[w.dtype].u:
            # From 1 / 2u on all numbers of the dtype are integers: what is wrong there is so by their size.
            whole = (np.abs(v) % 1 == 0) & (np.abs(v) < 0.5 / u)
            yield from spread(w, "kinks", f"where {name} is an integer", whole)
        if v.ndim >= 2 and v.shape[-1] > 1:
            rows = np.broadcast_to((v == 0).all(-1, keepdims=True), v.shape)
            yield from spread(w, "kinks", f"where a row of {name} is zero", rows)
        yield from spread(w, "kinks", f"at ties of {name}", _ties(v))
    yield from slices(w)
    yield from out_of_range(w, arrays)
    yield from truths(w)
    if len(arrays) >= 2:
        (a, x), (b, y) = arrays[:2]
        if broadcasts(x.shape, w.got.shape) and broadcasts(y.shape, w.got.shape):
            yield from spread(w, "kinks", f"where {a} = {b}", x == y)


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


def spread(w: Wrong, label: str, said: str, mask: Mask) -> Iterator[Region]:
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


def floats(w: Wrong) -> list[tuple[str, Array]]:
    """The inputs of floats, by name."""
    return [(str(n), v) for n, v in zip(w.names, w.inputs, strict=True) if v is not None and v.dtype.kind == "f"]
