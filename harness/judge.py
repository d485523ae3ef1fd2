"""From an outcome to a result: the reference is evaluated now, after the backend has answered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.cases._dtypes import DTYPES, round_to
from opproof.harness import kinks, reference
from opproof.harness.compare import C, Comparison, compare
from opproof.harness.data import arguments, distances
from opproof.harness.execute import Outcome, output_names
from opproof.harness.reference import Expected
from opproof.harness.vacuity import vacuous
from opproof.reference_ops import Op
from opproof.reports import Worst

Array = NDArray[Any]


@dataclass(frozen=True)
class Rules:
    """How strictly to judge; the same for every operator."""

    strict_subnormals: bool = False
    convention: str = "any"  # at kinks: "any" subgradient, or "torch"
    declared: str | None = None  # the backend's lower compute precision for this op and dtype


@dataclass(frozen=True)
class Judgement:
    """Verdict on one case and mode, before it becomes a record."""

    verdict: str
    message: str = ""
    units: float | None = None
    worst: Worst | None = None
    comparisons: tuple[tuple[str, Array, Expected, Comparison], ...] = ()  # for the diagnosis


def judge(case: Case, op: Op, mode: str, outcome: Outcome, rules: Rules) -> Judgement:
    """Judge the arrays of `outcome`, whose verdict is still open."""
    message = ""
    if mode == "forward":
        expected: Sequence[Expected | None] = reference.expected_forward(case, op, outcome.inputs, rules.declared)
        names: list[str | None] = list(output_names(op, len(expected)))
        comparisons = [_plain(case, g, e, rules) for g, e in zip(outcome.arrays, expected, strict=True)]
    else:
        expected = reference.expected_vjp(case, op, outcome.inputs, outcome.cotangents, outcome.needs, rules.declared)
        names = arguments(case, op)
        comparisons, message = _gradients(case, op, outcome, expected, rules)
    judged = [
        (str(n), a, e, c)
        for n, a, e, c in zip(names, outcome.arrays, expected, comparisons, strict=True)
        if a is not None and e is not None and c is not None
    ]
    failing = [j for j in judged if not j[3].passed.all()]
    units = max((float(np.max(c.units, initial=0.0)) for *_, c in judged), default=0.0)
    worst_of = max(failing or judged, key=lambda j: float(np.max(j[3].units, initial=0.0)), default=None)
    worst = _worst(*worst_of) if worst_of and (failing or units > 0) else None
    if failing or message.startswith("!"):
        verdict = "WRONG_VALUE" if mode == "forward" else "WRONG_GRADIENT"
        if _is_stale(outcome):
            verdict, message = "NOT_REPEATABLE", "the answer is that of the call before, which had other data"
        return Judgement(verdict, message.lstrip("!"), units, worst, tuple(judged))
    given = [*outcome.inputs, *outcome.cotangents] if mode == "gradient" else outcome.inputs
    if objection := vacuous(case, op, mode, expected, given):
        return Judgement("MISTRUSTED", objection, units, worst)
    return Judgement("PASS", message, units, worst)


def _plain(case: Case, got: Array | None, expected: Expected | None, rules: Rules) -> Comparison | None:
    if got is None or expected is None:
        return None
    return compare(got, expected, case.dtype, strict_subnormals=rules.strict_subnormals)


def _gradients(
    case: Case, op: Op, outcome: Outcome, expected: Sequence[Expected | None], rules: Rules
) -> tuple[list[Comparison | None], str]:
    """Comparisons of gradients, kinks and saved overflows allowed for; a message, '!' before an objection."""
    found = [_plain(case, g, e, rules) for g, e in zip(outcome.arrays, expected, strict=True)]
    messages: list[str] = []
    values = {n: v for n, v in zip(arguments(case, op), outcome.inputs, strict=True) if n is not None and v is not None}
    at_kink = distances(case, op, values) == 0
    for i, (got, want, comparison) in enumerate(zip(outcome.arrays, expected, found, strict=True)):
        if got is None or want is None or comparison is None:
            continue
        if at_kink.any() and rules.convention == "any":
            mask = at_kink if i == 0 else np.ones(got.shape, dtype=bool)
            kinked = kinks.intervals(case, op, outcome.inputs, outcome.cotangents, i, mask)
            found[i], objection = _within(got, want, comparison, kinked, case)
            messages.append(objection or kinks.convention(got, kinked))
        found[i] = _saved(case, op, outcome, want, found[i], i)
    objections = [m for m in messages if m.startswith("!")]
    return found, (objections or [m for m in messages if m] or [""])[0]


def _within(
    got: Array, want: Expected, comparison: Comparison, kinked: kinks.Kinked, case: Case
) -> tuple[Comparison, str]:
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


def _worst(name: str, got: Array, expected: Expected, comparison: Comparison) -> Worst | None:
    index = comparison.worst
    if index is None:
        return None
    return Worst(
        tensor=name,
        index=index,
        got=number(got[index]),
        expected=number(expected.values[index]),
        bound=number(comparison.bound[index]),
    )


def number(value: Any) -> float | str:
    """A JSON number, or nan, inf, -inf as text."""
    x = float(value)
    return x if math.isfinite(x) else str(x)


def _is_stale(outcome: Outcome) -> bool:
    """Whether the judged call answered exactly what the call before it did."""
    if not outcome.stale:
        return False
    pairs = [(a, b) for a, b in zip(outcome.arrays, outcome.stale, strict=True) if a is not None and b is not None]
    return any(a.size for a, _ in pairs) and all(
        a.tobytes() == b.tobytes() and np.ptp(np.nan_to_num(np.asarray(a, dtype=np.float64))) > 0
        for a, b in pairs
        if a.size
    )
