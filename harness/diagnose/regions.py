"""Sets of elements that might be the wrong ones, and how each is said: special values, places, named slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opproof.cases._fills.by_tensor import TRUTHS
from opproof.cases._fills.exhaustive import is_every
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.wrong import WrongTensor
from opproof.harness.reference.data import measure_kink_distances
from opproof.reference_ops import Trait

Mask = NDArray[np.bool_]

#: Bits of a threshold that the data chose, where they are not counted.
CHOSEN_THRESHOLD_BITS = 4.0


@dataclass(frozen=True)
class Region:
    """A set of elements that might be the wrong ones."""

    label: str
    said: str
    mask: Mask
    cost: float = 0.0  # bits, for being one of several that the data chose from
    axis: int | None = None  # of the slices of which the region consists
    double: bool = False  # it is told as two places at once, each of which is a region too


def broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether a mask of this shape broadcasts to that of the wrong tensor."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))


def find_known_regions(w: WrongTensor) -> Iterator[Region]:
    yield from _find_special_values(w)
    if _in_order(w):  # a threshold that falls on such a place, to the element, is unlikely
        yield from (
            r for r in find_places(w) if r.label in ("tail", "last", "first") and np.array_equal(r.mask, w.failing)
        )
    else:
        yield from find_places(w)


def _in_order(w: WrongTensor) -> bool:
    """Whether values lie in an order, so that places and rows say what they are."""
    return is_every(w.case.fill) or w.case.fill == "branches"


def _find_special_values(w: WrongTensor) -> Iterator[Region]:
    """Where an input is special: NaN, infinite, at a kink, zero, tied."""
    arrays = list_float_inputs(w)
    for name, v in arrays:
        for said, mask in (
            (f"where {name} is NaN", np.isnan(v)),
            (f"where {name} is infinite", np.isinf(v)),
            (f"where {name} is inf", v == np.inf),
            (f"where {name} is -inf", v == -np.inf),
        ):
            yield from extend_mask(w, "special", said, mask)
    if arrays and w.op.kinks is not None:
        named = {str(n): v for n, v in zip(w.names, w.inputs, strict=True) if v is not None and n is not None}
        at = measure_kink_distances(w.case, w.op, named) == 0
        yield from extend_mask(w, "kinks", "at kinks or ties", at)
    for name, v in arrays:
        yield from extend_mask(w, "kinks", f"where {name} = 0", v == 0)
        yield from extend_mask(w, "kinks", f"where {name} lies half-way between integers", np.abs(v) % 1 == 0.5)
        if u := DTYPES[w.dtype].u:
            # From 1 / 2u on all numbers of the dtype are integers: what is wrong there is so by their size.
            whole = (np.abs(v) % 1 == 0) & (np.abs(v) < 0.5 / u)
            yield from extend_mask(w, "kinks", f"where {name} is an integer", whole)
        if v.ndim >= 2 and v.shape[-1] > 1:
            rows = np.broadcast_to((v == 0).all(-1, keepdims=True), v.shape)
            yield from extend_mask(w, "kinks", f"where a row of {name} is zero", rows)
        yield from extend_mask(w, "kinks", f"at ties of {name}", _find_ties(v))
    yield from find_named_slices(w)
    yield from out_of_range(w, arrays)
    yield from find_wide_truths(w)
    if len(arrays) >= 2:
        (a, x), (b, y) = arrays[:2]
        if broadcasts(x.shape, w.got.shape) and broadcasts(y.shape, w.got.shape):
            yield from extend_mask(w, "kinks", f"where {a} = {b}", x == y)


def _find_ties(v: Array) -> Mask:
    if v.ndim == 0:
        return np.zeros((), dtype=bool)
    order = np.sort(v, axis=-1)
    repeated = np.concatenate([order[..., 1:] == order[..., :-1], np.zeros((*v.shape[:-1], 1), bool)], axis=-1)
    tied = np.zeros(v.shape, dtype=bool)
    for row in np.ndindex(v.shape[:-1]):
        tied[row] = np.isin(v[row], order[row][repeated[row]])
    return tied


def extend_mask(w: WrongTensor, label: str, said: str, mask: Mask) -> Iterator[Region]:
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


def list_float_inputs(w: WrongTensor) -> list[tuple[str, Array]]:
    return [(str(n), v) for n, v in zip(w.names, w.inputs, strict=True) if v is not None and v.dtype.kind == "f"]


def out_of_range(w: WrongTensor, arrays: Sequence[tuple[str, Array]]) -> Iterator[Region]:
    """Elements of which the squares are past the largest number of a dtype, or below its smallest normal one."""
    shape = w.got.shape
    if not arrays or not all(broadcasts(v.shape, shape) for _, v in arrays):
        return
    largest: Array = np.max([np.broadcast_to(np.abs(v), shape) for _, v in arrays], axis=0)
    names = " and ".join(name for name, _ in arrays)
    for kind in dict.fromkeys((w.dtype, "f32")):
        most, least = (np.sqrt(getattr(DTYPES[kind], end)) for end in ("max", "tiny"))
        above = (largest > most) & np.isfinite(largest)  # of an infinity no square is what overflows
        below = (largest < least) & (largest > 0)
        for said, mask in (
            (f"past {most:.1e}, whose squares overflow in {kind}", above),
            (f"past {most:.1e} or below {least:.1e}, whose squares {kind} does not hold", above | below),
        ):
            yield Region("special", f"the elements where {names} are {said},", mask)


def find_wide_truths(w: WrongTensor) -> Iterator[Region]:
    """Elements where a mask is true, and is not 1."""
    for name, v in zip(w.names, w.inputs, strict=True) if w.case.fill == TRUTHS else ():
        if v is None or v.dtype.kind not in "iu" or not broadcasts(v.shape, w.got.shape):
            continue
        for said, mask in (
            ("neither 0 nor 1", (v != 0) & (v != 1)),
            ("even and not 0", (v != 0) & (v % 2 == 0)),
            ("negative", v < 0),
            ("below 0 or past 127", (v < 0) | (v > 127)),
            ("a multiple of 256 and not 0", (v != 0) & (v % 256 == 0)),
        ):
            yield Region("special", f"the elements where {name} is {said}", np.broadcast_to(mask, w.got.shape))


@dataclass(frozen=True)
class IndexCounts:
    """Of the slices along an axis how often each is named."""

    name: str
    axis: int
    count: Array

    def mask(self, chosen: Mask, shape: tuple[int, ...]) -> Mask:
        """The elements of the slices that are chosen."""
        along = chosen.reshape([-1 if a == self.axis else 1 for a in range(len(shape))])
        return np.broadcast_to(along, shape)


def find_tables(w: WrongTensor) -> Iterator[IndexCounts]:
    """For every input of indices the axis of the wrong tensor that has as many slices as the indices may name."""
    if Trait.INDEXED not in w.op.traits or w.op.domain is None or not w.got.ndim:
        return
    domain = w.op.domain(w.case.shapes, **w.params)
    for name, index in zip(w.names, w.inputs, strict=True):
        places = domain.get(str(name))
        if index is None or not index.size or not isinstance(places, range):
            continue
        axis = _find_axis(w, len(places))
        if axis is None or _of_lanes(index.shape, w.got.shape, axis, "dim" in w.params):
            continue
        inside = index[(index >= 0) & (index < len(places))]
        yield IndexCounts(str(name), axis, np.bincount(inside.astype(np.int64), minlength=len(places)))


def _find_axis(w: WrongTensor, places: int) -> int | None:
    dim = w.params.get("dim")
    axes = [dim % w.got.ndim] if isinstance(dim, int) else range(w.got.ndim)
    return next((a for a in axes if w.got.shape[a] == places), None)


def _of_lanes(index: tuple[int, ...], shape: tuple[int, ...], axis: int, along: bool) -> bool:
    """Whether an index names places in one lane along the axis, as a class or in gather, not whole slices."""
    return index == shape[:axis] + shape[axis + 1 :] != () or (along and len(index) == len(shape) > 1)


def find_named_slices(w: WrongTensor) -> Iterator[Region]:
    """Those that an input names more than once, once, never."""
    for n in find_tables(w):
        for said, chosen in (("more than once", n.count > 1), ("once", n.count == 1), ("never", n.count == 0)):
            mask = n.mask(chosen, w.got.shape)
            yield Region("special", f"the slices along axis {n.axis} that {n.name} names {said}", mask)


def find_comparable(w: WrongTensor, named: Sequence[IndexCounts]) -> Mask:
    """Elements of the narrowest such set of slices that holds all the wrong ones."""
    alike: Mask = np.ones(w.got.shape, dtype=bool)
    for n in named:
        sets = [n.mask(chosen, w.got.shape) for chosen in (n.count > 1, n.count == 1, n.count > 0, n.count == 0)]
        alike = alike & next((s for s in sets if not (w.failing & ~s).any()), alike)
    return alike


def find_slice_axes(
    w: WrongTensor, named: Sequence[IndexCounts], region: Region, shown: Mask
) -> tuple[int, ...] | None:
    """Axes to look along where each slice is evidence once: where the region or the error is of whole ones."""
    for n in named:
        others = tuple(a for a in range(w.got.ndim) if a != n.axis)
        wrong, right = w.failing.any(axis=others), (shown & ~w.failing).any(axis=others)
        of_slices = np.array_equal(region.mask.all(axis=others), region.mask.any(axis=others))
        if of_slices or not (wrong & right).any():
            return others
    return None


#: Labels of regions that are places, not values.
PLACE_LABELS = ("tail", "last", "first", "beyond first", "beyond", "edges", "every", "between")
#: Of slices that lie apart from each other, or begin and end anywhere, fewer tell nothing.
_MIN_SLICES = 6
#: Slices of which one is told to be the first or the last: of three it is two times out of three, whatever is wrong.
_MIN_SLICES_WITH_ENDS = 4


def find_places(w: WrongTensor) -> Iterator[Region]:
    """Every such set for a tensor of this shape, the likeliest first."""
    shape = w.got.shape
    yield from _iter_tails(shape)
    for axis, n in enumerate(shape):
        index = index_along(shape, axis)
        yield from _of_few(axis, n, index)
        yield Region("last", f"the elements of the last slice along axis {axis}", index == n - 1)
        yield Region("first", f"the elements of the first slice along axis {axis}", index == 0)
        yield Region("beyond first", f"the elements with an index > 0 along axis {axis}", index > 0)
        for width in (1024, 512, 256, 128, 64, 32, 16, 8, 4):
            said = f"the elements from {width} on along axis {axis}"
            yield Region("beyond", said, index >= width)
    yield from _iter_strided(shape)
    yield from _iter_edges(shape)
    yield from _iter_between(w)


def _of_few(axis: int, n: int, index: Array) -> Iterator[Region]:
    """Slices by their numbers, where there are so few that the first is as likely to be meant as any other."""
    if 1 < n < _MIN_SLICES_WITH_ENDS:
        yield Region("last", f"the elements of slice {n - 1} of {n} along axis {axis}", index == n - 1)
        yield Region("first", f"the elements of slice 0 of {n} along axis {axis}", index == 0)
    if 2 < n < _MIN_SLICES_WITH_ENDS:
        yield Region("beyond first", f"the elements of slices 1 to {n - 1} of {n} along axis {axis}", index > 0)


def _iter_tails(shape: tuple[int, ...]) -> Iterator[Region]:
    """Past the last multiple of a vector width; a single slice is said to be the last too, for it may be either."""
    size = int(np.prod(shape))
    flat = np.arange(size).reshape(shape)
    for width in (4, 8, 16, 32, 64):
        for axis in range(len(shape) - 1, -1, -1):
            end = shape[axis] - shape[axis] % width
            if not 0 < end < shape[axis]:
                continue
            beyond, multiple = index_along(shape, axis) >= end, f"the last multiple of {width}"
            said = f"the elements past {end} along axis {axis}"
            if shape[axis] - end == 1:
                yield Region("tail", f"{said} ({multiple}; the last slice)", beyond, double=True)
            yield Region("tail", f"{said} ({multiple})", beyond)
        end = size - size % width
        if end and len(shape) > 1:
            yield Region("tail", f"the elements past {end} in memory (the last multiple of {width})", flat >= end)


def _iter_strided(shape: tuple[int, ...]) -> Iterator[Region]:
    """Every second slice, every fourth and so on: a lane that does nothing, a step that is twice as long."""
    for axis, n in enumerate(shape):
        index = index_along(shape, axis)
        if n >= _MIN_SLICES:
            yield Region("every", f"the elements with an odd index along axis {axis}", index % 2 == 1)
            yield Region("every", f"the elements with an even index along axis {axis}", index % 2 == 0)
        for width in (4, 8, 16, 32):
            if n > 2 * width:
                multiple = f"a multiple of {width}"
                yield Region("every", f"the elements with {multiple} for index along axis {axis}", index % width == 0)
                said = f"the elements with one less than {multiple} for index along axis {axis}"
                yield Region("every", said, index % width == width - 1)


def _iter_edges(shape: tuple[int, ...]) -> Iterator[Region]:
    """The first and the last slice along an axis, or along the last two or three."""
    rank = len(shape)
    sets = [(a,) for a in range(rank)] + [tuple(range(rank - k, rank)) for k in (2, 3) if k <= rank]
    for axes in sets:
        if len(axes) > 1 or shape[axes[0]] > _MIN_SLICES:
            edge = np.zeros(shape, dtype=bool)
            for a in axes:
                index = index_along(shape, a)
                edge |= (index == 0) | (index == shape[a] - 1)
            named = f"ax{'es' if len(axes) > 1 else 'is'} {', '.join(map(str, axes))}"
            yield Region("edges", f"the elements of the first and last slices along {named}", edge)


def _iter_between(w: WrongTensor) -> Iterator[Region]:
    for axis, n in enumerate(w.got.shape):
        index = index_along(w.got.shape, axis)
        wrong = index[w.failing]
        first, last = int(wrong.min()), int(wrong.max())
        if n < 2 * _MIN_SLICES or first < 1 or last > n - 2 or _repeats(w, axis):
            continue
        said = (
            f"the elements from {first} to {last} along axis {axis}"
            if first < last
            else f"the elements of slice {first} along axis {axis}"
        )
        cost = 2 * float(np.log2(n))
        yield Region("between", said, (index >= first) & (index <= last), cost)


def _repeats(w: WrongTensor, axis: int) -> bool:
    """Whether rows of an input along an axis are each other's copies: what is wrong of one value is then a slice."""
    for v in w.inputs:
        if v is None or v.shape != w.got.shape:
            continue
        rows = np.moveaxis(v, axis, -1).reshape(-1, v.shape[axis])
        if 1 < len(rows) >= 2 * len(np.unique(rows, axis=0)):
            return True
    return False


def index_along(shape: tuple[int, ...], axis: int) -> Array:
    """The index along an axis of every element."""
    index = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return np.broadcast_to(index, shape)
