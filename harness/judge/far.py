"""Gradients at infinity: where the formula is NaN, its limit is as right.

The gradient of silu at +inf is σ (1 + x (1 - σ)), which is inf · 0; a kernel that treats large x apart answers 1, which
every finite neighbour has. The limit is the gradient far out, at two places that agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.judge.bound import C, Comparison, fails
from opproof.harness.reference import expected as reference
from opproof.harness.reference.expected import Expected
from opproof.harness.reference.question import Posed
from opproof.reference_ops import Trait

#: Where "far out" is: of both float64 has the square and the cube.
_PLACES = (1e30, 1e60)


def excused(
    posed: Posed,
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
    near, far = (_gradient(posed, np.where(np.isinf(x), np.copysign(place, x), x)) for place in _PLACES)
    if near is None or far is None:
        return [*comparisons]
    with np.errstate(all="ignore"):
        slack = C * DTYPES[posed.case.dtype].u * np.abs(near)
        right = np.isinf(x) & np.isnan(want.values) & (near == far) & (np.abs(got - near) <= slack)
    return [comparison.excusing(right & ~comparison.passed)]


def _gradient(posed: Posed, x: Array) -> Array | None:
    moved = posed.given(inputs=(x,))
    (found,) = reference.vjp(moved.op, moved.inputs, moved.params, moved.cotangents, moved.outputs)
    return None if found is None else np.asarray(found)
