"""Gradients against what is expected of them: the bound, kinks, saved overflows, finite differences.

Beside a kink, at one and at infinity right is more than the reference's number. An honest formula may round to the
other side of a kink: hardsigmoid is min(max(x + 3, 0), 6) / 6, and of x = 3 - 2^-22 in float32 x + 3 is 6. So whatever
lies between the gradients of both sides is right there, and at the kinks of a PyTorch function. At infinity the limit
is right where the formula is NaN: that of silu, inf times 0, is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from opproof.cases._layouts import equal_slices
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind, round_to
from opproof.harness.judge import alternatives
from opproof.harness.judge.alternatives import waive_by_alternatives
from opproof.harness.judge.bound import STORED, C, Comparison, compare, fails
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference import expected as reference
from opproof.harness.reference import kinks
from opproof.harness.reference.data import measure_kink_distances
from opproof.harness.reference.question import Expected, Question, evaluate_vjp
from opproof.harness.reference.roundoff import compute_roundoff
from opproof.harness.reference.torch.kinks import KinkGradients
from opproof.reference_ops import Trait


@dataclass(frozen=True)
class Rules:
    """How strictly to judge; the same for every operator."""

    strict_subnormals: bool = False
    convention: str = "any"  # at kinks: "any" subgradient, or "torch"
    declared: str | None = None  # the backend's lower compute precision for this op and dtype
    rounding: str | None = None  # how the backend stores this op's results, where not to nearest
    signed_zeros: bool = False  # zeros must have the signs of IEEE 754-2019, of operators that it defines them for
    profile: str = ""  # the standard whose limits are judged beside ours


def compare_by_bound(dtype: str, got: Array | None, expected: Expected | None, rules: Rules) -> Comparison | None:
    """The comparison of a result of `dtype` by the bound alone; None where nothing was asked."""
    if got is None or expected is None:
        return None
    if rules.rounding is not None:  # what is stored to one side is moved by an interior error of any size
        expected = replace(expected, held=False)
    return compare(got, expected, dtype, strict_subnormals=rules.strict_subnormals)


def compare_results(
    posed: Question, arrays: Sequence[Array | None], expected: Sequence[Expected | None], rules: Rules
) -> list[Comparison | None]:
    """`compare_by_bound` of every result, each in its own dtype."""
    pairs = enumerate(zip(arrays, expected, strict=True))
    slices = equal_slices(posed.case)
    return [
        compare_equal_slices(slices, want, lambda e, i=i, got=got: compare_by_bound(posed.dtype_of(i), got, e, rules))  # type: ignore[misc]
        for i, (got, want) in pairs
    ]


def compare_equal_slices(
    slices: int, expected: Expected | None, compared: Callable[[Expected | None], Comparison | None]
) -> Comparison | None:
    """What `compared` says of an array; where it fails, of one to which the errors of `slices` equal slices add up.

    Noise is another in each slice, where a kernel errs in all of them alike: in a sum over them by as many times, not
    by the root of it.
    """
    comparison = compared(expected)
    if slices <= 1 or expected is None or comparison is None or comparison.right:
        return comparison
    return compared(replace(expected, scale=expected.scale * math.sqrt(slices)))


@dataclass(frozen=True)
class ComparedArrays:
    """The arrays of an answer beside what is expected of them; None where nothing was asked."""

    arrays: Sequence[Array | None]
    expected: Sequence[Expected | None]
    comparisons: Sequence[Comparison | None]
    note: str = ""  # how it was judged, or which convention the backend follows
    objection: str = ""  # what is wrong though each element by itself may pass
    doubt: str = ""  # why nothing can be said


def by_differences(posed: Question, answer: Outputs, rules: Rules) -> ComparedArrays:
    """By finite differences, for operators without a vjp."""
    estimates = posed.once("differences", lambda: kinks.estimate_gradients(posed))
    expected = [None if e is None else e.expected for e in estimates]
    comparisons = compare_results(posed, answer.arrays, expected, rules)
    skipped = total = 0
    for i, (estimate, comparison) in enumerate(zip(estimates, comparisons, strict=True)):
        if estimate is None or comparison is None:
            continue
        skipped, total = skipped + int((~estimate.smooth).sum()), total + estimate.smooth.size
        counted = replace(comparison, signed=np.full(comparison.units.shape, np.nan))  # its scale is no roundings'
        comparisons[i] = counted.with_waived(~estimate.smooth)
    left_out = f", {skipped} of {total} elements near kinks left out" if skipped else ""
    doubt = "the function is not smooth enough within a difference step at any element"
    return ComparedArrays(
        answer.arrays,
        expected,
        comparisons,
        note=f"by finite differences of the reference{left_out}",
        doubt=doubt if total and skipped == total else "",
    )


def by_vjp(posed: Question, answer: Outputs, expected: Sequence[Expected | None], rules: Rules) -> ComparedArrays:
    """By the reference's vjp, kinks and saved overflows allowed for."""
    compared = compare_results(posed, answer.arrays, expected, rules)
    comparisons = [*waive_by_alternatives(posed, answer.arrays, expected, compared, rules.strict_subnormals)]
    comparisons = waive_at_infinity(posed, answer.arrays, expected, comparisons)
    if rules.convention == "any":
        comparisons = waive_near_kinks(
            posed, answer.arrays, comparisons, rules.declared, flushes=not rules.strict_subnormals
        )
    comparisons = alternatives.waive_large_noise(posed, answer.arrays, expected, comparisons, rules.declared)
    notes: list[str] = []
    if posed.op.reference is not None and rules.convention == "any":
        comparisons = _of_torch(posed, answer, comparisons, rules)
    if posed.op.ties is not None and rules.convention == "any":
        groups = posed.op.ties(*posed.inputs, **posed.params)
        for i, (got, want, comparison) in enumerate(zip(answer.arrays, expected, comparisons, strict=True)):
            if got is not None and want is not None and comparison is not None:
                comparisons[i], note = alternatives.in_any_order(
                    got, want, groups, comparison, posed.dtype_of(i), strict_subnormals=rules.strict_subnormals
                )
                notes.append(note)
    shapes = [None if c is None else c.units.shape for c in comparisons]
    at_kinks = {} if posed.op.ties is not None or rules.convention != "any" else find_kinked(posed, shapes)
    for i, k in at_kinks.items():
        got, comparison = answer.arrays[i], comparisons[i]
        assert got is not None
        assert comparison is not None
        comparisons[i] = _pass_within(got, comparison, k, slack_of(comparison.bound, k, posed.dtype_of(i)))
        notes.append(kinks.describe_convention(got, k))
    objection = _explain_no_subgradient(posed, answer, comparisons, at_kinks)
    for i, (want, comparison) in enumerate(zip(expected, comparisons, strict=True)):
        if want is not None and comparison is not None:
            comparisons[i] = _waive_saved_overflow(posed, want, comparison, i)
    return ComparedArrays(answer.arrays, expected, comparisons, next(filter(None, notes), ""), objection)


def _of_torch(
    posed: Question, answer: Outputs, comparisons: Sequence[Comparison | None], rules: Rules
) -> list[Comparison | None]:
    """Of a PyTorch function alone, which does not say where its kinks are."""
    if not fails(comparisons):
        return [*comparisons]
    from opproof.harness.reference.torch.evaluate import question_of
    from opproof.harness.reference.torch.kinks import find_kink_gradients

    question = question_of(posed, rules.declared)
    known, kinds = find_kink_gradients(question), question.kinds
    return [
        c
        if c is None or got is None or where is None
        else waive_at_kinks(np.asarray(got, dtype=np.float64), c, where, kind)
        for got, c, where, kind in zip(answer.arrays, comparisons, known, kinds, strict=True)
    ]


def find_kinked(posed: Question, shapes: Sequence[tuple[int, ...] | None]) -> dict[int, kinks.KinkIntervals]:
    """By argument, the elements at kinks; `shapes` are those of the gradients, None where none is asked for."""

    def intervals() -> dict[int, kinks.KinkIntervals]:
        if posed.op.kinks is None:
            return {}
        values = {n: v for n, v in zip(posed.names, posed.inputs, strict=True) if n is not None and v is not None}
        at_kink = measure_kink_distances(posed.case, posed.op, values) == 0
        if not at_kink.any():
            return {}
        of = {i: shape for i, shape in enumerate(shapes) if shape is not None}
        masks = {i: at_kink if i == 0 else _find_reached(at_kink, shape) for i, shape in of.items()}
        return {i: kinks.find_intervals(posed, i, mask) for i, mask in masks.items()}

    return posed.once("kinked", intervals)


def slack_of(bound: Array, at: kinks.KinkIntervals, dtype: str) -> Array:
    """How far a gradient may be from every interval: by the bound, and by the size of the interval's larger end."""
    reach = np.maximum(np.abs(at.left).sum(axis=-1), np.abs(at.right).sum(axis=-1))
    return np.asarray(np.maximum(bound, C * DTYPES[dtype].u * reach) + 1e-9)


def _find_reached(at_kink: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Elements of another tensor, of `shape`, that meet a kinked element of the first where the two broadcast."""
    try:
        common = np.broadcast_shapes(at_kink.shape, shape)
    except ValueError:
        return np.ones(shape, dtype=bool)
    met = np.broadcast_to(at_kink, common)
    lead = len(common) - len(shape)
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(shape) if n == 1)
    return np.reshape(np.any(met, axis=axes), shape)


def _pass_within(got: Array, comparison: Comparison, kinked: kinks.KinkIntervals, slack: Array) -> Comparison:
    """Elements at kinks pass between their one-sided derivatives, and where they pass anyhow, as NaN for NaN."""
    value = np.asarray(got, dtype=np.float64)
    inside = comparison.passed | ((value >= kinked.low - slack) & (value <= kinked.high + slack))
    return replace(
        comparison,
        units=np.where(kinked.mask, np.where(inside, 0.0, np.inf), comparison.units),
        bound=np.where(kinked.mask, slack, comparison.bound),
        passed=np.where(kinked.mask, inside, comparison.passed),
        signed=np.where(kinked.mask, np.nan, comparison.signed),
    )


def _explain_no_subgradient(
    posed: Question,
    answer: Outputs,
    comparisons: Sequence[Comparison | None],
    kinked: Mapping[int, kinks.KinkIntervals],
) -> str:
    """Why gradients that may stand at each kink by itself are no subgradient together; empty where they are one."""
    if fails(comparisons):
        return ""
    u = max((DTYPES[posed.dtype_of(i)].u for i, c in enumerate(comparisons) if c is not None), default=0.0)
    for limit in posed.once("limits", lambda: [*kinks.find_slope_intervals(posed, kinked)]):
        terms = [np.asarray(answer.arrays[i], dtype=np.float64) * d for i, d in limit.directions.items()]
        total, size = (float(sum(np.sum(f(t)) for t in terms)) for f in (np.asarray, np.abs))
        room = C * u * (size + abs(limit.low) + abs(limit.high)) + 1e-6 * max(abs(limit.low), abs(limit.high))
        room = max(
            room, _sum_allowed(comparisons, limit.directions)
        )  # a sum of thousands of terms has one tie among them
        if np.isnan(limit.low + limit.high):
            continue  # the function itself is NaN there
        if not limit.low - room <= total <= limit.high + room:
            return (
                f"at kinks the gradients add up to {total:.6g}, which is no subgradient: "
                f"expected between {limit.low:.6g} and {limit.high:.6g}"
            )
    return ""


def _sum_allowed(comparisons: Sequence[Comparison | None], directions: Mapping[int, Array]) -> float:
    """By how much the gradient along directions may be off where every element is as far off as it may be."""
    bounds = ((c, d) for i, d in directions.items() if (c := comparisons[i]) is not None)
    return float(sum(np.sum(c.bound * np.abs(d)) for c, d in bounds))


def _waive_saved_overflow(posed: Question, want: Expected, comparison: Comparison, i: int) -> Comparison:
    """Where an output that a backward saves overflows the dtype, non-finite gradients pass with it."""
    if comparison.right or not reference.has_saved_overflow(posed.case, posed.outputs):
        return comparison
    kind = DTYPES[posed.case.dtype]
    stored = [round_to(y, kind) if y.dtype.kind == "f" else y for y in posed.outputs]
    given = evaluate_vjp(posed.op, posed.inputs, posed.params, posed.cotangents, stored)[i]
    excused = ~np.isfinite(np.asarray(given)) & np.isfinite(want.values)
    return comparison.with_waived(excused)


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
