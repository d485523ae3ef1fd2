"""Which slices of a table an input of indices names, and how often: few of them are touched at all, some several times.

Where all that is wrong lies in slices that are named, or named more than once, others could not show the error: that
the wrong ones are every second, or past the 64th, is then told by how many of those that could show it are so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.diagnose.region import Mask, Region
from opproof.harness.diagnose.wrong import Wrong
from opproof.reference_ops import Trait


@dataclass(frozen=True)
class Named:
    """Of the slices along an axis how often each is named."""

    name: str
    axis: int
    count: Array

    def mask(self, chosen: Mask, shape: tuple[int, ...]) -> Mask:
        """The elements of the slices that are chosen."""
        along = chosen.reshape([-1 if a == self.axis else 1 for a in range(len(shape))])
        return np.broadcast_to(along, shape)


def tables(w: Wrong) -> Iterator[Named]:
    """For every input of indices the axis of the wrong tensor that has as many slices as the indices may name."""
    if Trait.INDEXED not in w.op.traits or w.op.domain is None or not w.got.ndim:
        return
    domain = w.op.domain(w.case.shapes, **w.params)
    for name, index in zip(w.names, w.inputs, strict=True):
        places = domain.get(str(name))
        if index is None or not index.size or not isinstance(places, range):
            continue
        axis = _axis(w, len(places))
        if axis is None or _of_lanes(index.shape, w.got.shape, axis, "dim" in w.params):
            continue
        inside = index[(index >= 0) & (index < len(places))]
        yield Named(str(name), axis, np.bincount(inside.astype(np.int64), minlength=len(places)))


def _axis(w: Wrong, places: int) -> int | None:
    dim = w.params.get("dim")
    axes = [dim % w.got.ndim] if isinstance(dim, int) else range(w.got.ndim)
    return next((a for a in axes if w.got.shape[a] == places), None)


def _of_lanes(index: tuple[int, ...], shape: tuple[int, ...], axis: int, along: bool) -> bool:
    """Whether an index names places in one lane along the axis, as a class or in gather, not whole slices."""
    return index == shape[:axis] + shape[axis + 1 :] != () or (along and len(index) == len(shape) > 1)


def slices(w: Wrong) -> Iterator[Region]:
    """Those that an input names more than once, once, never."""
    for n in tables(w):
        for said, chosen in (("more than once", n.count > 1), ("once", n.count == 1), ("never", n.count == 0)):
            mask = n.mask(chosen, w.got.shape)
            yield Region("special", f"the slices along axis {n.axis} that {n.name} names {said}", mask)


def comparable(w: Wrong, named: Sequence[Named]) -> Mask:
    """Elements of the narrowest such set of slices that holds all the wrong ones."""
    alike: Mask = np.ones(w.got.shape, dtype=bool)
    for n in named:
        sets = [n.mask(chosen, w.got.shape) for chosen in (n.count > 1, n.count == 1, n.count > 0, n.count == 0)]
        alike = alike & next((s for s in sets if not (w.failing & ~s).any()), alike)
    return alike


def slicewise(w: Wrong, named: Sequence[Named], region: Region, shown: Mask) -> tuple[int, ...] | None:
    """Axes to look along where each slice is evidence once: where the region or the error is of whole ones."""
    for n in named:
        others = tuple(a for a in range(w.got.ndim) if a != n.axis)
        wrong, right = w.failing.any(axis=others), (shown & ~w.failing).any(axis=others)
        of_slices = np.array_equal(region.mask.all(axis=others), region.mask.any(axis=others))
        if of_slices or not (wrong & right).any():
            return others
    return None
