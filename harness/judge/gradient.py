"""Gradients against what is expected of them: the bound, kinks, saved overflows, finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.harness.judge import ties
from opproof.harness.judge.bound import C, Comparison, compare
from opproof.harness.run.execute import Outcome
from opproof.harness.truth import differences, kinks, reference
from opproof.harness.truth.data import arguments, distances, parameters
from opproof.harness.truth.reference import Expected
from opproof.reference_ops import Op
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES, round_to


@dataclass(frozen=True)
class Rules:
    """How strictly to judge; the same for every operator."""

    strict_subnormals: bool = False
    convention: str = "any"  # at kinks: "any" subgradient, or "torch"
    declared: str | None = None  # the backend's lower compute precision for this op and dtype


def plain(case: Case, got: Array | None, expected: Expected | None, rules: Rules) -> Comparison | None:
    """The comparison by the bound alone; None where nothing was asked."""
    if got is None or expected is None:
        return None
    return compare(got, expected, case.dtype, strict_subnormals=rules.strict_subnormals)


def by_differences(
    case: Case, op: Op, outcome: Outcome, rules: Rules
) -> tuple[Sequence[Expected | None], list[Comparison | None], str]:
    """Expectations and comparisons by finite differences; a message, '?' before a doubt."""
    estimates = differences.gradients(case, op, outcome.inputs, outcome.cotangents, outcome.needs)
    expected = [None if e is None else e.expected for e in estimates]
    found = [plain(case, g, e, rules) for g, e in zip(outcome.arrays, expected, strict=True)]
    skipped = total = 0
    for i, (estimate, comparison) in enumerate(zip(estimates, found, strict=True)):
        if estimate is None or comparison is None:
            continue
        skipped, total = skipped + int((~estimate.smooth).sum()), total + estimate.smooth.size
        units = np.where(estimate.smooth, comparison.units, 0.0)
        found[i] = Comparison(units, comparison.bound, comparison.passed | ~estimate.smooth)
    if total and skipped == total:
        return expected, found, "?the function is not smooth enough within a difference step at any element"
    said = f", {skipped} of {total} elements near kinks left out" if skipped else ""
    return expected, found, f"by finite differences of the reference{said}"


def by_vjp(
    case: Case, op: Op, outcome: Outcome, expected: Sequence[Expected | None], rules: Rules
) -> tuple[list[Comparison | None], str]:
    """Comparisons of gradients, kinks and saved overflows allowed for; a message, '!' before an objection."""
    found = [plain(case, g, e, rules) for g, e in zip(outcome.arrays, expected, strict=True)]
    messages: list[str] = []
    values = {n: v for n, v in zip(arguments(case, op), outcome.inputs, strict=True) if n is not None and v is not None}
    at_kink = distances(case, op, values) == 0
    for i, (got, want, comparison) in enumerate(zip(outcome.arrays, expected, found, strict=True)):
        if got is None or want is None or comparison is None:
            continue
        if op.ties is not None and rules.convention == "any":
            groups = op.ties(*outcome.inputs, **parameters(case, op))
            found[i], said = ties.in_any_order(got, want, groups, comparison, case.dtype)
            messages.append(said)
        elif at_kink.any() and rules.convention == "any":
            mask = at_kink if i == 0 else _reached(at_kink, got.shape)
            kinked = kinks.intervals(case, op, outcome.inputs, outcome.cotangents, i, mask)
            found[i], objection = _within(got, comparison, kinked, case)
            messages.append(objection or kinks.convention(got, kinked))
        found[i] = _saved(case, op, outcome, want, found[i], i)
    objections = [m for m in messages if m.startswith("!")]
    return found, (objections or [m for m in messages if m] or [""])[0]


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
    passed = np.where(kinked.mask, inside, comparison.passed)
    units = np.where(kinked.mask, np.where(inside, 0.0, np.inf), comparison.units)
    result = Comparison(units, np.where(kinked.mask, slack, comparison.bound), passed)
    if not kinked.mask.any() or not inside[kinked.mask].all():
        return result, ""
    total = float(np.sum(value[kinked.mask]))
    room = float(np.sum(slack[kinked.mask])) + 1e-6 * (abs(total) + 1)
    if kinked.total[0] - room <= total <= kinked.total[1] + room:
        return result, ""
    return result, (
        f"!at kinks the gradients add up to {total:.6g}, which is no subgradient: "
        f"expected between {kinked.total[0]:.6g} and {kinked.total[1]:.6g}"
    )


def _saved(case: Case, op: Op, outcome: Outcome, want: Expected, comparison: Comparison | None, i: int) -> Comparison:
    """Where an output that a backward saves overflows the dtype, non-finite gradients pass with it."""
    assert comparison is not None
    if comparison.passed.all():
        return comparison
    outputs = reference.forward(case, op, outcome.inputs)
    if not reference.saved_overflow(case, outputs):
        return comparison
    kind = DTYPES[case.dtype]
    stored = [round_to(y, kind) if y.dtype.kind == "f" else y for y in outputs]
    given = reference.vjp(case, op, outcome.inputs, outcome.cotangents, stored)[i]
    excused = ~np.isfinite(np.asarray(given)) & np.isfinite(want.values)
    return Comparison(np.where(excused, 0.0, comparison.units), comparison.bound, comparison.passed | excused)
