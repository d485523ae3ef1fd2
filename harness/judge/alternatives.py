"""Answers as right as the reference's: flushed zeros, other conventions, a symmetric gradient in one triangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array, tuple_of
from opproof.core.dtypes import DTYPES, Kind
from opproof.core.verdicts import Mode
from opproof.harness.judge.bound import Comparison, compare, fails
from opproof.harness.reference.error_scale import lost_by_flushing
from opproof.harness.reference.expected import Expected
from opproof.harness.reference.question import Posed
from opproof.harness.reference.roundoff import least_normal, quiet
from opproof.reference_ops import Op, Trait

#: So many times the least normal number a result may be, of which flushed terms make up a share; and so many times the
#: RMS of what flushing loses it may be off.
NEAR, MOST_LOST = 2.0**10, 4.0

Comparisons = Sequence[Comparison | None]


def excusing(
    posed: Posed,
    arrays: Sequence[Array | None],
    expected: Sequence[Expected | None],
    comparisons: Comparisons,
    strict_subnormals: bool,
) -> Comparisons:
    """`comparisons`, the elements right that an alternative makes right; evaluated only where something fails.

    Of flushed zeros every element by itself, in dtypes that anybody flushes; a convention is one for the whole array
    (but for what flushing has made right already) unless the operator says that elements follow theirs apart.
    """
    flushes, plain = DTYPES[posed.case.dtype].kind is Kind.FLOAT, comparisons
    if flushes and not strict_subnormals and fails(comparisons):
        for answer in posed.flushed:
            others = _against(answer, posed, arrays, expected)
            comparisons = [
                c if o is None or c is None else c.excusing(~c.passed & o.passed)
                for c, o in zip(comparisons, others, strict=True)
            ]
        comparisons = _partly_flushed(posed, arrays, expected, comparisons)
    if posed.mode is Mode.FORWARD and posed.op.conventions is not None and fails(comparisons):
        with quiet():
            answers = [tuple_of(answer) for answer in posed.op.conventions(*posed.inputs, **posed.params)]
        for answer in answers:
            others = _against(answer, posed, arrays, expected, strict_subnormals)
            comparisons = [
                c if c is None or p is None or o is None else _by_convention(posed.op, c, p, o)
                for c, p, o in zip(comparisons, plain, others, strict=True)
            ]
    if posed.mode is Mode.GRADIENT and posed.op.symmetric and fails(comparisons):
        triples = zip(arrays, expected, comparisons, strict=True)
        comparisons = [_symmetric(posed, i, *of, strict_subnormals) for i, of in enumerate(triples)]
    return comparisons


def _partly_flushed(
    posed: Posed, arrays: Sequence[Array | None], expected: Sequence[Expected | None], comparisons: Comparisons
) -> Comparisons:
    """`comparisons`, right where next to nothing is as far off as flushing some of what is on the way makes it.

    What depends on its own place alone is no sum: its parts are flushed or are not, and `posed.flushed` has both.
    """
    if posed.op.reference is not None or Trait.POINTWISE in posed.op.traits or posed.together < posed.runs:
        return comparisons
    near = NEAR * least_normal(DTYPES[posed.case.dtype])
    small = [
        None if c is None or a is None or e is None else _wrong_and_small(c, a, e, near)
        for c, a, e in zip(comparisons, arrays, expected, strict=True)
    ]
    if not any(s is not None and s.any() for s in small):
        return comparisons
    return [
        c if c is None or a is None or e is None or s is None or lost is None else _within(c, a, e, s, MOST_LOST * lost)
        for c, a, e, s, lost in zip(comparisons, arrays, expected, small, lost_by_flushing(posed), strict=True)
    ]


def _wrong_and_small(c: Comparison, got: Array, want: Expected, near: float) -> NDArray[np.bool_] | None:
    if c.right or np.asarray(got).dtype.kind != "f" or want.values.dtype.kind != "f":
        return None
    size = np.maximum(np.abs(np.asarray(got, dtype=np.float64)), np.abs(want.values))
    return np.asarray(~c.passed & (size < near))


def _within(c: Comparison, got: Array, want: Expected, where: NDArray[np.bool_], room: Array) -> Comparison:
    with np.errstate(all="ignore"):
        off = np.abs(np.asarray(got, dtype=np.float64) - want.values)
    return c.excusing(where & (off <= room))


def _symmetric(
    posed: Posed,
    i: int,
    got: Array | None,
    want: Expected | None,
    comparison: Comparison | None,
    strict_subnormals: bool,
) -> Comparison | None:
    """Of the gradient of symmetric matrices its symmetric part, where that is right: no change of x shows another."""
    if comparison is None or comparison.right or posed.names[i] not in posed.op.symmetric:
        return comparison
    assert got is not None
    assert want is not None
    value = np.asarray(got, dtype=np.float64)
    with quiet():
        other = compare(
            (value + np.swapaxes(value, -1, -2)) / 2, want, posed.dtype_of(i), strict_subnormals=strict_subnormals
        )
    return other if other.right else comparison


def _by_convention(op: Op, c: Comparison, plain: Comparison, other: Comparison) -> Comparison:
    """`c`, right where the convention that `other` is compared with makes it so; `plain` is without flushed zeros."""
    if op.apart:
        return c.excusing(~c.passed & other.passed)
    whole = (other.passed | (c.passed & ~plain.passed)).all()
    return c.excusing(~c.passed) if whole else c


def _against(
    answer: Sequence[Array | None],
    posed: Posed,
    arrays: Sequence[Array | None],
    expected: Sequence[Expected | None],
    strict: bool = False,
) -> Comparisons:
    """What came against another answer than the reference's, where that is wrong by the reference."""
    return [
        None
        if got is None or want is None or values is None or np.shape(values) != want.values.shape
        else compare(got, replace(want, values=np.asarray(values)), posed.dtype_of(i), strict_subnormals=strict)
        for i, (got, want, values) in enumerate(zip(arrays, expected, answer, strict=True))
    ]
