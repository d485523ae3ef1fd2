"""Gradients within a rounding of a kink: an honest formula may round away on which side an element lies.

hardsigmoid is min(max(x + 3, 0), 6) / 6: of x = 3 - 2^-22 in float32, x + 3 is 6 after rounding, and the gradient 0.
So beside a kink, no further than the interior arithmetic rounds, whatever lies between the gradients of both sides is
right. In 16 bits nothing is so near: sums of such numbers are exact in float32.

Nor does it know the side where it takes numbers below the normal range for zero, and the kink is there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind
from opproof.harness.judge.bound import C, Comparison, fails
from opproof.harness.reference import expected
from opproof.harness.reference.data import distances
from opproof.harness.reference.question import Posed
from opproof.harness.reference.roundoff import compute_roundoff
from opproof.reference_ops import Trait

#: How near, and how far to either side gradients are looked at, in interior roundoffs of the element.
_NEAR, _ASIDE = 2.0, 4.0


def excused(
    posed: Posed,
    arrays: Sequence[Array | None],
    comparisons: Sequence[Comparison | None],
    declared: str | None,
    *,
    flushes: bool = True,
) -> list[Comparison | None]:
    """The comparisons, with what lies between both sides right beside kinks; of pointwise operators."""
    first = posed.inputs[0] if posed.inputs else None
    if not fails(comparisons) or first is None or Trait.POINTWISE not in posed.op.traits:
        return [*comparisons]
    values = {n: v for n, v in zip(posed.names, posed.inputs, strict=True) if n is not None and v is not None}
    distance = distances(posed.case, posed.op, values)
    dtype = DTYPES[posed.case.dtype]
    room = _NEAR * compute_roundoff(dtype, declared) * np.abs(first)
    if flushes and dtype.kind is Kind.FLOAT:
        room = np.where(np.abs(first) < dtype.tiny, np.maximum(room, np.abs(first)), room)
    near = np.isfinite(first) & (distance > 0) & (distance <= room)
    if not near.any():
        return [*comparisons]
    aside = np.where(near, _ASIDE / _NEAR * room, 0.0)
    below, above = (_gradients(posed, first + sign * aside) for sign in (-1, 1))
    return [
        c if c is None or got is None or a is None or b is None or c.passed.shape != near.shape
        else c.excusing(near & ~c.passed & _between(np.asarray(got, np.float64), a, b, c.bound, posed.dtype_of(i)))
        for i, (got, c, a, b) in enumerate(zip(arrays, comparisons, below, above, strict=True))
    ]  # fmt: skip


def _gradients(posed: Posed, first: Array) -> Sequence[Array | None]:
    moved = posed.given(inputs=(first, *posed.inputs[1:]))
    return expected.vjp(moved.op, moved.inputs, moved.params, moved.cotangents, moved.outputs)


def _between(got: Array, a: Array, b: Array, bound: Array, dtype: str) -> Array:
    with np.errstate(all="ignore"):
        slack = np.maximum(bound, C * DTYPES[dtype].u * np.maximum(np.abs(a), np.abs(b)))
        inside: Array = (got >= np.minimum(a, b) - slack) & (got <= np.maximum(a, b) + slack)
        return inside
