"""Whether slices are independent as an operator says: evaluated in blocks and joined they are the whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.reference.chunks.blocks import Axis, axes_of, results_of, whole
from opproof.harness.reference.chunks.expected import values_in
from opproof.harness.reference.chunks.memory_budget import Room
from opproof.harness.reference.chunks.question import templates
from opproof.harness.reference.expected import values_of
from opproof.harness.reference.question import Posed
from opproof.harness.reference.roundoff import quiet

_PARTS = 3
_NEAR = 1e-12  # relative to the largest element: sums of other lengths are rounded in another order


def unlike(posed: Posed) -> Iterator[str]:
    """Results of `posed` that are not what its slices joined are, in words. Arrays are float64."""
    axes = axes_of(posed.case, posed.op)
    if not axes:
        return
    if templates(posed, axes) is None:
        if posed.op.independent is not None:
            yield "an axis that it names is no axis of an output, or has another extent there"
        return
    wholes = dict(zip(_names(posed), values_of(posed), strict=True))
    for k, axis in enumerate(axes):
        sizes = [a.extent for a in axes]
        sizes[k] = _part(axis, posed)
        room = Room(axes, tuple(sizes), {})
        for name, shape in results_of(posed, posed.outputs).items():
            want = wholes[name]
            with quiet():
                got = values_in(posed, room, whole(axes), name, shape)
            if want is not None and not _same(got, want):
                yield f"{name} is another of {sizes[k]} slices of {axis.extent} at a time, joined along {dict(axis.of)}"
                return


def _names(posed: Posed) -> Sequence[str | None]:
    names = list(results_of(posed, posed.outputs))
    return posed.names if posed.mode == "gradient" else names


def _part(axis: Axis, posed: Posed) -> int:
    sizes = range(-(-axis.extent // _PARTS), axis.extent + 1)
    return next(n for n in sizes if axis.valid(n, posed.case.shapes))


def _same(got: Array, want: Array) -> bool:
    with np.errstate(all="ignore"):
        want = np.asarray(want, dtype=np.float64)
        size = float(np.max(np.abs(want), where=np.isfinite(want), initial=1.0))
        near = np.abs(got - want) <= _NEAR * size
        return bool(np.all(near | (got == want) | (np.isnan(got) & np.isnan(want))))
