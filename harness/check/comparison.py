"""Comparing as a check does. In 8 bits each answer is one that honest arithmetic stores, or it is wrong.

Two units of e4m3 are an eighth: a kernel that is off by 2 % would pass. Before it stores, it knows float32.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind, round_to
from opproof.harness.judge import bound
from opproof.harness.judge.bound import C, Comparison, floor_of
from opproof.harness.reference.expected import Expected


def is_float8(kind: str) -> bool:
    """Whether it is our name of a float of 8 bits."""
    return kind in DTYPES and DTYPES[kind].kind is Kind.FLOAT8


def _below(got: Array, expected: Expected, kind: str) -> Array:
    """Which elements round, and are below the normal range of their dtype, as the truth is; none of f16."""
    if expected.values.dtype.kind != "f" or kind == "f16" or DTYPES[kind].whole:
        return np.zeros(expected.values.shape, dtype=bool)
    tiny = DTYPES[kind].tiny
    return np.asarray((expected.scale > 0) & (np.abs(expected.values) < tiny) & (np.abs(got) < tiny))


def compare(got: Array, expected: Expected, kind: str) -> Comparison:
    """`bound.compare`; in 8 bits what passes lies between what the two ends of the roundoff are stored as.

    Below the normal range of its dtype any number passes that is below it too: of a sum some terms may be flushed. Not
    in f16, whose subnormal numbers float32 holds.
    """
    comparison = bound.compare(got, expected, kind)
    if kind not in DTYPES or expected.exact:
        return comparison
    if not is_float8(kind):
        return comparison if comparison.right else comparison.excusing(_below(got, expected, kind))
    dtype = DTYPES[kind]
    with np.errstate(all="ignore"):
        off = C * dtype.u * expected.scale + floor_of(DTYPES["f32"])
        low, high = round_to(expected.values - off, dtype), round_to(expected.values + off, dtype)
        value = np.asarray(got, dtype=np.float64)
        wrong = comparison.passed & ((value < low) | (value > high))
        allowed = np.maximum(high - expected.values, expected.values - low)
    over = np.maximum(comparison.units, np.nextafter(comparison.limit, np.inf))
    return replace(
        comparison,
        passed=comparison.passed & ~wrong,
        units=np.where(wrong, over, comparison.units),
        bound=np.where(np.isfinite(allowed), allowed, comparison.bound),
    )
