"""Arithmetic of 16 bits, by declaration, that rounds further than a slope tells.

The scale of an element is a slope: what it moves by for a rounding without end small. Scores of attention near 10^5 are
rounded by hundreds in bfloat16, and then another key is the largest, though the slope of a saturated share is 0. So
where such arithmetic is declared and an element fails, the reference is evaluated in noise of the declared size too,
and what lies between its results is right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.judge.bound import Comparison, fails
from opproof.harness.reference import expected
from opproof.harness.reference.error_scale import reached
from opproof.harness.reference.question import Posed
from opproof.harness.reference.roundoff import COMPUTE_U, compute_roundoff


def excused(
    posed: Posed,
    arrays: Sequence[Array | None],
    comparisons: Sequence[Comparison | None],
    declared: str | None,
) -> list[Comparison | None]:
    """The comparisons, with what noise of the declared size reaches right too; for references in NumPy."""
    if not fails(comparisons) or declared is None or not _is_coarse(posed, declared):
        return [*comparisons]
    results = posed.once(f"reached {declared}", lambda: reached(posed, declared))
    return [
        c if c is None or got is None or ends is None else c.excusing(~c.passed & _inside(got, c.bound, *ends))
        for got, c, ends in zip(arrays, comparisons, results, strict=True)
    ]


def _is_coarse(posed: Posed, declared: str) -> bool:
    rounds = posed.op.reference is None and not expected.is_bitwise(posed)
    return rounds and compute_roundoff(DTYPES[posed.case.dtype], declared) > COMPUTE_U["f32"]


def _inside(got: Array, bound: Array, least: Array, most: Array) -> Array:
    value = np.asarray(got, dtype=np.float64)
    with np.errstate(all="ignore"):
        inside: Array = (value >= least - bound) & (value <= most + bound)
        return inside
