"""Answers as right as the reference's: flushed zeros, other conventions, coarse arithmetic, draws, ties in any order.

Where f16 or bf16 arithmetic is declared and an element fails, the reference is evaluated in noise of the declared size:
scores of attention near 10^5 are rounded by hundreds in bfloat16, and then another key is the largest. The gradients of
equal elements may stand in any order, and may be shared (Clarke's generalised gradient): Rado's theorem says which
vectors are averages of orders. The k largest never sum to more than the k largest expected, and all sum to the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.judge.bound import C, Comparison, compare, fails
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference import expected
from opproof.harness.reference.error_scale import measure_flushing_loss, measure_reach
from opproof.harness.reference.question import Expected, Question
from opproof.harness.reference.roundoff import COMPUTE_U, compute_roundoff, ignore_fp_warnings, least_normal_of
from opproof.reference_ops import Op, Trait

#: So many times the least normal number a result may be, of which flushed terms make up a share; and so many times the
#: RMS of what flushing loses it may be off.
MAX_TINY_MULTIPLE = 2.0**10
MAX_LOST_RMS = 4.0

#: The bound's share of a number from which on small noise does not tell of its real size.
MIN_STEEP_SHARE = 1.0

Comparisons = Sequence[Comparison | None]


def waive_by_alternatives(
    posed: Question,
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
            others = _compare_with(answer, posed, arrays, expected)
            comparisons = [
                c if o is None or c is None else c.with_waived(~c.passed & o.passed)
                for c, o in zip(comparisons, others, strict=True)
            ]
        comparisons = _waive_partly_flushed(posed, arrays, expected, comparisons)
    if posed.mode is Mode.FORWARD and posed.op.conventions is not None and fails(comparisons):
        with ignore_fp_warnings():
            answers = [tuple_of(answer) for answer in posed.op.conventions(*posed.inputs, **posed.params)]
        for answer in answers:
            others = _compare_with(answer, posed, arrays, expected, strict_subnormals)
            comparisons = [
                c if c is None or p is None or o is None else _by_convention(posed.op, c, p, o)
                for c, p, o in zip(comparisons, plain, others, strict=True)
            ]
    if posed.mode is Mode.GRADIENT and posed.op.symmetric and fails(comparisons):
        triples = zip(arrays, expected, comparisons, strict=True)
        comparisons = [_compare_symmetric_part(posed, i, *of, strict_subnormals) for i, of in enumerate(triples)]
    return comparisons


def _waive_partly_flushed(
    posed: Question, arrays: Sequence[Array | None], expected: Sequence[Expected | None], comparisons: Comparisons
) -> Comparisons:
    """`comparisons`, right where next to nothing is as far off as flushing some of what is on the way makes it.

    What depends on its own place alone is no sum: its parts are flushed or are not, and `posed.flushed` has both.
    """
    if posed.op.reference is not None or Trait.POINTWISE in posed.op.traits or posed.together < posed.runs:
        return comparisons
    near = MAX_TINY_MULTIPLE * least_normal_of(DTYPES[posed.case.dtype])
    small = [
        None if c is None or a is None or e is None else _find_wrong_and_small(c, a, e, near)
        for c, a, e in zip(comparisons, arrays, expected, strict=True)
    ]
    if not any(s is not None and s.any() for s in small):
        return comparisons
    return [
        c
        if c is None or a is None or e is None or s is None or lost is None
        else _waive_within(c, a, e, s, MAX_LOST_RMS * lost)
        for c, a, e, s, lost in zip(comparisons, arrays, expected, small, measure_flushing_loss(posed), strict=True)
    ]


def _find_wrong_and_small(c: Comparison, got: Array, want: Expected, near: float) -> NDArray[np.bool_] | None:
    if c.right or np.asarray(got).dtype.kind != "f" or want.values.dtype.kind != "f":
        return None
    size = np.maximum(np.abs(np.asarray(got, dtype=np.float64)), np.abs(want.values))
    return np.asarray(~c.passed & (size < near))


def _waive_within(c: Comparison, got: Array, want: Expected, where: NDArray[np.bool_], room: Array) -> Comparison:
    with np.errstate(all="ignore"):
        off = np.abs(np.asarray(got, dtype=np.float64) - want.values)
    return c.with_waived(where & (off <= room))


def _compare_symmetric_part(
    posed: Question,
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
    with ignore_fp_warnings():
        other = compare(
            (value + np.swapaxes(value, -1, -2)) / 2, want, posed.dtype_of(i), strict_subnormals=strict_subnormals
        )
    return other if other.right else comparison


def _by_convention(op: Op, c: Comparison, plain: Comparison, other: Comparison) -> Comparison:
    """`c`, right where the convention that `other` is compared with makes it so; `plain` is without flushed zeros."""
    if op.apart:
        return c.with_waived(~c.passed & other.passed)
    whole = (other.passed | (c.passed & ~plain.passed)).all()
    return c.with_waived(~c.passed) if whole else c


def _compare_with(
    answer: Sequence[Array | None],
    posed: Question,
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


def waive_large_noise(
    posed: Question,
    arrays: Sequence[Array | None],
    wanted: Sequence[Expected | None],
    comparisons: Sequence[Comparison | None],
    declared: str | None,
) -> list[Comparison | None]:
    """The comparisons, with what noise of its real size reaches right too; for references in NumPy.

    Of coarse arithmetic everything, else what goes beyond the bound there: exp of a score of 10^9, whose last digit in
    float32 is 64, is none of what noise without end small says.
    """
    if not fails(comparisons) or posed.op.reference is not None or expected.is_bitwise(posed):
        return [*comparisons]
    coarse = declared is not None and compute_roundoff(DTYPES[posed.case.dtype], declared) > COMPUTE_U["f32"]
    if not coarse and not any(map(_may_be_steep, comparisons, wanted)):
        return [*comparisons]
    results = posed.once(f"reached {declared or ''}", lambda: measure_reach(posed, declared))
    found: list[Comparison | None] = []
    for got, want, c, ends in zip(arrays, wanted, comparisons, results, strict=True):
        if c is None or got is None or want is None or ends is None:
            found.append(c)
            continue
        inside = ~c.passed & _is_inside(got, c.bound, *ends)
        with np.errstate(all="ignore"):
            beyond = np.maximum(ends[1] - want.values, want.values - ends[0]) > c.bound
        found.append(c.with_waived(inside if coarse else inside & beyond))
    return found


def _may_be_steep(comparison: Comparison | None, want: Expected | None) -> bool:
    """Whether an element fails whose error by small noise is no small part of it."""
    if comparison is None or want is None or comparison.right:
        return False
    with np.errstate(all="ignore"):
        steep = comparison.bound > MIN_STEEP_SHARE * np.abs(want.values)
    return bool(np.any(steep & ~comparison.passed))


def _is_inside(got: Array, bound: Array, least: Array, most: Array) -> Array:
    value = np.asarray(got, dtype=np.float64)
    with np.errstate(all="ignore"):
        inside: Array = (value >= least - bound) & (value <= most + bound)
        return inside


def of_the_draw(posed: Question, answer: Outputs) -> tuple[Question, str]:
    """The question with the draw of the answer given, and why that is no chance, empty where it may be."""
    outputs = answer.arrays if posed.mode is Mode.FORWARD else answer.drawn
    if not outputs:
        return posed, ""
    before = answer.before if posed.mode is Mode.FORWARD else ()
    return insert_draw(posed, outputs), explain_unfair_draw(posed, outputs, before)


def insert_draw(posed: Question, outputs: Sequence[Any]) -> Question:
    """The question whose inputs have what was drawn to make `outputs`."""
    assert posed.op.drawn is not None
    return posed.given(inputs=tuple(posed.op.drawn(tuple(outputs), *posed.inputs, **posed.params)))


def explain_unfair_draw(posed: Question, outputs: Sequence[Any], before: Sequence[Any]) -> str:
    """Why a draw is no chance, in words; `before` are the outputs of another draw, none where there was no other."""
    if posed.op.unfair is None:
        return ""
    return posed.op.unfair(tuple(outputs), tuple(before), *posed.inputs, **posed.params)


def in_any_order(
    got: Array,
    expected: Expected,
    groups: NDArray[np.int64],
    plain: Comparison,
    dtype: str,
    *,
    strict_subnormals: bool = False,
) -> tuple[Comparison, str]:
    """`plain` with the groups that pass in another order, or shared, passed; a message where there is one.

    `groups` has the shape of `got`: a number from 0 for each group, the same for elements that are equal.
    """
    if plain.right:
        return plain, ""
    paired = _compare_paired(got, expected, groups, dtype, strict_subnormals)
    right = np.ones(groups.max() + 1, dtype=bool)
    np.logical_and.at(right, groups, paired.passed)
    shared = np.zeros_like(right)
    several = np.bincount(groups.ravel(), minlength=right.size) > 1  # one by itself has nothing to share with
    for g in np.flatnonzero(~right & several):
        here = groups == g
        bound = plain.bound[here] + C * DTYPES[dtype].u * np.abs(expected.values[here])  # an average rounds
        shared[g] = _averages(np.asarray(got[here], dtype=np.float64), expected.values[here], bound)
    result = plain.with_waived((right | shared)[groups] & ~plain.passed)
    how = "are shared among them" if shared.any() else "stand in another order"
    return result, f"gradients of equal elements {how}" if result.right else ""


def _compare_paired(got: Array, expected: Expected, groups: NDArray[np.int64], dtype: str, strict: bool) -> Comparison:
    """The smallest found of each group against the smallest expected, and so on."""
    labels = groups.ravel()
    there = np.lexsort((expected.values.ravel(), labels))
    here = np.lexsort((np.asarray(got, dtype=np.float64).ravel(), labels))
    paired = np.empty_like(got).ravel()
    paired[there] = got.ravel()[here]
    return compare(paired.reshape(got.shape), expected, dtype, strict_subnormals=strict)


def _averages(got: NDArray[np.float64], expected: Array, bound: NDArray[np.float64]) -> bool:
    """Whether `got` is an average of orders of `expected`, up to the largest bounds of as many as are summed.

    Bounds go with elements to any place: of numbers that are 0 but for rounding no order says where they belong.
    """
    slack = np.cumsum(np.sort(bound)[::-1])
    excess = np.cumsum(np.sort(got)[::-1]) - np.cumsum(np.sort(expected)[::-1])
    return bool((excess <= slack).all() and -excess[-1] <= slack[-1])  # a NaN passes neither
