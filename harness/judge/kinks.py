"""Gradients beside a kink, at one and at infinity: right is more than the reference's number.

An honest formula may round to the other side of a kink: hardsigmoid is min(max(x + 3, 0), 6) / 6, and of x = 3 - 2^-22
in float32 x + 3 is 6. So whatever lies between the gradients of both sides is right there, and at the kinks of a
PyTorch function. At infinity the limit is right where the formula is NaN: that of silu, inf times 0, is 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind
from opproof.harness.judge.bound import STORED, C, Comparison, fails
from opproof.harness.reference.data import measure_kink_distances
from opproof.harness.reference.question import Expected, Question, evaluate_vjp
from opproof.harness.reference.roundoff import compute_roundoff
from opproof.harness.reference.torch.kinks import KinkGradients
from opproof.reference_ops import Trait

#: How near, and how far to either side gradients are looked at, in interior roundoffs of the element.
_NEAR_KINK_ROUNDOFFS = 2.0
_SIDE_STEP_ROUNDOFFS = 4.0


def waive_near_kinks(
    posed: Question,
    arrays: Sequence[Array | None],
    comparisons: Sequence[Comparison | None],
    declared: str | None,
    *,
    flushes: bool = True,
) -> list[Comparison | None]:
    """The comparisons, with what lies between both sides right beside kinks; of pointwise operators.

    At a kink where both sides agree, as where both bounds of a clamp are one number, what they have is right too.
    """
    first = posed.inputs[0] if posed.inputs else None
    if not fails(comparisons) or first is None or Trait.POINTWISE not in posed.op.traits:
        return [*comparisons]
    values = {n: v for n, v in zip(posed.names, posed.inputs, strict=True) if n is not None and v is not None}
    distance = measure_kink_distances(posed.case, posed.op, values)
    dtype = DTYPES[posed.case.dtype]
    room = _NEAR_KINK_ROUNDOFFS * compute_roundoff(dtype, declared) * np.abs(first)
    if flushes and dtype.kind is Kind.FLOAT:
        room = np.where(np.abs(first) < dtype.tiny, np.maximum(room, np.abs(first)), room)
    near, at = np.isfinite(first) & (distance > 0) & (distance <= room), np.isfinite(first) & (distance == 0)
    if not (near | at).any():
        return [*comparisons]
    step = np.where(at, np.maximum(room, DTYPES["f32"].tiny), room)
    aside = np.where(near | at, _SIDE_STEP_ROUNDOFFS / _NEAR_KINK_ROUNDOFFS * step, 0.0)
    below, above = (_evaluate_gradients_at(posed, first + sign * aside) for sign in (-1, 1))

    def find_right(got: Array, c: Comparison, a: Array, b: Array, dtype: str) -> Array:
        inside = _is_inside(np.asarray(got, np.float64), a, b, c.bound, dtype)
        return np.asarray((near | (at & (a == b))) & ~c.passed & inside)

    return [
        c if c is None or got is None or a is None or b is None or c.passed.shape != near.shape
        else c.with_waived(find_right(got, c, a, b, posed.dtype_of(i)))
        for i, (got, c, a, b) in enumerate(zip(arrays, comparisons, below, above, strict=True))
    ]  # fmt: skip


def _evaluate_gradients_at(posed: Question, first: Array) -> Sequence[Array | None]:
    moved = posed.given(inputs=(first, *posed.inputs[1:]))
    return evaluate_vjp(moved.op, moved.inputs, moved.params, moved.cotangents, moved.outputs)


def _is_inside(got: Array, a: Array, b: Array, bound: Array, dtype: str) -> Array:
    with np.errstate(all="ignore"):
        slack = np.maximum(bound, C * DTYPES[dtype].u * np.maximum(np.abs(a), np.abs(b)))
        inside: Array = (got >= np.minimum(a, b) - slack) & (got <= np.maximum(a, b) + slack)
        return inside


#: Binary digits of a float32, in which interior arithmetic is no more precise than what is stored.
_FLOAT32_DIGITS = 24


def waive_at_kinks(
    got: Array, comparison: Comparison, where: KinkGradients, kind: str, *, whole: bool = False
) -> Comparison:
    """The comparison with what lies between both sides right; not where the sum over all kinks is no subgradient.

    `kind`: the dtype. The bound is that of the side that the reference takes, which may be 0; what is on the other is
    computed and rounded too. `whole`: where something fails there, what passes by its bound is no part of figures of
    the whole either, as it is off by the other side's derivative.
    """
    dtype = DTYPES[kind]
    with np.errstate(all="ignore"):
        side = np.maximum(np.abs(where.low), np.abs(where.high))
        slack = comparison.bound + dtype.u * (C if dtype.digits >= _FLOAT32_DIGITS else STORED) * side + 1e-9
        mask = where.at & (got >= where.low - slack) & (got <= where.high + slack)
        total, room = float(np.sum(got, where=where.at)), float(np.sum(slack, where=where.at))
        inside = where.sums[0] - room <= total <= where.sums[1] + room
    failing = mask & ~comparison.passed
    if not inside or not failing.any():
        return comparison
    return comparison.with_waived(mask if whole else failing)


#: Where "far out" is: of both float64 has the square and the cube.
_FAR_OUT_SIZES = (1e30, 1e60)


def waive_at_infinity(
    posed: Question,
    arrays: Sequence[Array | None],
    expected: Sequence[Expected | None],
    comparisons: Sequence[Comparison | None],
) -> list[Comparison | None]:
    """The comparisons, with limits right where NaN is expected at an infinite x; pointwise operators of one input."""
    x = posed.inputs[0] if len(posed.inputs) == 1 else None
    if not fails(comparisons) or x is None or Trait.POINTWISE not in posed.op.traits or not np.isinf(x).any():
        return [*comparisons]
    (got,), (want,), (comparison,) = arrays, expected, comparisons
    if got is None or want is None or comparison is None or comparison.passed.shape != x.shape:
        return [*comparisons]
    near, far = (
        _evaluate_gradients_at(posed, np.where(np.isinf(x), np.copysign(place, x), x))[0] for place in _FAR_OUT_SIZES
    )
    if near is None or far is None:
        return [*comparisons]
    with np.errstate(all="ignore"):
        slack = C * DTYPES[posed.case.dtype].u * np.abs(near)
        right = np.isinf(x) & np.isnan(want.values) & (near == far) & (np.abs(got - near) <= slack)
    return [comparison.with_waived(right & ~comparison.passed)]
