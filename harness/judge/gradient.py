"""Gradients against what is expected of them: the bound, kinks, saved overflows, finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.harness.judge import ties
from opproof.harness.judge.alternatives import excusing
from opproof.harness.judge.answer import Answer
from opproof.harness.judge.bound import C, Comparison, compare
from opproof.harness.truth import differences, kinks, reference
from opproof.harness.truth.data import distances
from opproof.harness.truth.posed import Posed
from opproof.harness.truth.reference import Expected
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES, round_to


@dataclass(frozen=True)
class Rules:
    """How strictly to judge; the same for every operator."""

    strict_subnormals: bool = False
    convention: str = "any"  # at kinks: "any" subgradient, or "torch"
    declared: str | None = None  # the backend's lower compute precision for this op and dtype
    rounding: str | None = None  # how the backend stores this op's results, where not to nearest


def plain(case: Case, got: Array | None, expected: Expected | None, rules: Rules) -> Comparison | None:
    """The comparison by the bound alone; None where nothing was asked."""
    if got is None or expected is None:
        return None
    return compare(got, expected, case.dtype, strict_subnormals=rules.strict_subnormals)


@dataclass(frozen=True)
class Compared:
    """The arrays of an answer beside what is expected of them; None where nothing was asked."""

    arrays: Sequence[Array | None]
    expected: Sequence[Expected | None]
    comparisons: Sequence[Comparison | None]
    note: str = ""  # how it was judged, or which convention the backend follows
    objection: str = ""  # what is wrong though each element by itself may pass
    doubt: str = ""  # why nothing can be said


def by_differences(posed: Posed, answer: Answer, rules: Rules) -> Compared:
    """By finite differences, for operators without a vjp."""
    estimates = differences.gradients(posed)
    expected = [None if e is None else e.expected for e in estimates]
    comparisons = [plain(posed.case, g, e, rules) for g, e in zip(answer.arrays, expected, strict=True)]
    skipped = total = 0
    for i, (estimate, comparison) in enumerate(zip(estimates, comparisons, strict=True)):
        if estimate is None or comparison is None:
            continue
        skipped, total = skipped + int((~estimate.smooth).sum()), total + estimate.smooth.size
        counted = replace(comparison, signed=np.full(comparison.units.shape, np.nan))  # its scale is no roundings'
        comparisons[i] = counted.excusing(~estimate.smooth)
    left_out = f", {skipped} of {total} elements near kinks left out" if skipped else ""
    doubt = "the function is not smooth enough within a difference step at any element"
    return Compared(
        answer.arrays,
        expected,
        comparisons,
        note=f"by finite differences of the reference{left_out}",
        doubt=doubt if total and skipped == total else "",
    )


def by_vjp(posed: Posed, answer: Answer, expected: Sequence[Expected | None], rules: Rules) -> Compared:
    """By the reference's vjp, kinks and saved overflows allowed for."""
    op, case = posed.op, posed.case
    compared = [plain(case, g, e, rules) for g, e in zip(answer.arrays, expected, strict=True)]
    comparisons = [*excusing(posed, answer.arrays, expected, compared, rules.strict_subnormals)]
    notes: list[str] = []
    objections: list[str] = []
    values = {n: v for n, v in zip(posed.names, posed.inputs, strict=True) if n is not None and v is not None}
    at_kink = distances(case, op, values) == 0
    for i, (got, want, comparison) in enumerate(zip(answer.arrays, expected, comparisons, strict=True)):
        if got is None or want is None or comparison is None:
            continue
        if op.ties is not None and rules.convention == "any":
            groups = op.ties(*posed.inputs, **posed.params)
            comparison, note = ties.in_any_order(got, want, groups, comparison, case.dtype)  # noqa: PLW2901
            notes.append(note)
        elif at_kink.any() and rules.convention == "any":
            mask = at_kink if i == 0 else _reached(at_kink, got.shape)
            kinked = kinks.intervals(posed, i, mask)
            comparison, objection = _within(got, comparison, kinked, case)  # noqa: PLW2901
            objections.append(objection)
            notes.append(kinks.convention(got, kinked))
        comparisons[i] = _saved(posed, want, comparison, i)
    first = [next((text for text in texts if text), "") for texts in (notes, objections)]
    return Compared(answer.arrays, expected, comparisons, note=first[0], objection=first[1])


def _reached(at_kink: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Elements of another tensor, of `shape`, that meet a kinked element of the first where the two broadcast."""
    try:
        common = np.broadcast_shapes(at_kink.shape, shape)
    except ValueError:
        return np.ones(shape, dtype=bool)
    met = np.broadcast_to(at_kink, common)
    lead = len(common) - len(shape)
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(shape) if n == 1)
    return np.reshape(np.any(met, axis=axes), shape)


def _within(got: Array, comparison: Comparison, kinked: kinks.Kinked, case: Case) -> tuple[Comparison, str]:
    """Elements at kinks pass between their one-sided derivatives; their sum must lie between the limits too."""
    value = np.asarray(got, dtype=np.float64)
    u = DTYPES[case.dtype].u
    slack = np.maximum(comparison.bound, C * u * np.maximum(np.abs(kinked.low), np.abs(kinked.high))) + 1e-9
    inside = (value >= kinked.low - slack) & (value <= kinked.high + slack)
    result = Comparison(
        units=np.where(kinked.mask, np.where(inside, 0.0, np.inf), comparison.units),
        limit=comparison.limit,
        bound=np.where(kinked.mask, slack, comparison.bound),
        passed=np.where(kinked.mask, inside, comparison.passed),
        signed=np.where(kinked.mask, np.nan, comparison.signed),
    )
    if not kinked.mask.any() or not inside[kinked.mask].all():
        return result, ""
    total = float(np.sum(value[kinked.mask]))
    room = float(np.sum(slack[kinked.mask])) + 1e-6 * (abs(total) + 1)
    if kinked.total[0] - room <= total <= kinked.total[1] + room:
        return result, ""
    return result, (
        f"at kinks the gradients add up to {total:.6g}, which is no subgradient: "
        f"expected between {kinked.total[0]:.6g} and {kinked.total[1]:.6g}"
    )


def _saved(posed: Posed, want: Expected, comparison: Comparison, i: int) -> Comparison:
    """Where an output that a backward saves overflows the dtype, non-finite gradients pass with it."""
    if comparison.passed.all() or not reference.saved_overflow(posed.case, posed.outputs):
        return comparison
    kind = DTYPES[posed.case.dtype]
    stored = [round_to(y, kind) if y.dtype.kind == "f" else y for y in posed.outputs]
    given = reference.vjp(posed.op, posed.inputs, posed.params, posed.cotangents, stored)[i]
    excused = ~np.isfinite(np.asarray(given)) & np.isfinite(want.values)
    return comparison.excusing(excused)
