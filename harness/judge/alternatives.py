"""Answers as right as the reference's: flushed zeros, other conventions, a symmetric gradient in one triangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from opproof.harness.judge.bound import Comparison, compare, fails
from opproof.harness.truth.posed import Posed
from opproof.harness.truth.quiet import quiet
from opproof.harness.truth.reference import Expected
from opproof.reference_ops import Op
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES, Kind
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.several import tuple_of

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
    if posed.mode is Mode.FORWARD and posed.op.conventions is not None and fails(comparisons):
        with quiet():
            answers = [tuple_of(answer) for answer in posed.op.conventions(*posed.inputs, **posed.params)]
        for answer in answers:
            others = _against(answer, posed, arrays, expected)
            comparisons = [
                c if c is None or p is None or o is None else _by_convention(posed.op, c, p, o)
                for c, p, o in zip(comparisons, plain, others, strict=True)
            ]
    if posed.mode is Mode.GRADIENT and posed.op.symmetric and fails(comparisons):
        comparisons = [
            _symmetric(posed, i, *of) for i, of in enumerate(zip(arrays, expected, comparisons, strict=True))
        ]
    return comparisons


def _symmetric(
    posed: Posed, i: int, got: Array | None, want: Expected | None, comparison: Comparison | None
) -> Comparison | None:
    """Of the gradient of symmetric matrices its symmetric part, where that is right: no change of x shows another."""
    if comparison is None or comparison.right or posed.names[i] not in posed.op.symmetric:
        return comparison
    assert got is not None
    assert want is not None
    value = np.asarray(got, dtype=np.float64)
    with quiet():
        other = compare((value + np.swapaxes(value, -1, -2)) / 2, want, posed.dtype_of(i))
    return other if other.right else comparison


def _by_convention(op: Op, c: Comparison, plain: Comparison, other: Comparison) -> Comparison:
    """`c`, right where the convention that `other` is compared with makes it so; `plain` is without flushed zeros."""
    if op.apart:
        return c.excusing(~c.passed & other.passed)
    whole = (other.passed | (c.passed & ~plain.passed)).all()
    return c.excusing(~c.passed) if whole else c


def _against(
    answer: Sequence[Array | None], posed: Posed, arrays: Sequence[Array | None], expected: Sequence[Expected | None]
) -> Comparisons:
    """What came against another answer than the reference's, where that is wrong by the reference."""
    return [
        None
        if got is None or want is None or values is None or np.shape(values) != want.values.shape
        else compare(got, replace(want, values=np.asarray(values)), posed.dtype_of(i))
        for i, (got, want, values) in enumerate(zip(arrays, expected, answer, strict=True))
    ]
