"""From an outcome to a result: the reference is evaluated now, after the backend has answered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.cases import Case
from opproof.harness.judge.bound import Comparison
from opproof.harness.judge.gradient import Rules, by_differences, by_vjp, plain
from opproof.harness.judge.vacuity import vacuous
from opproof.harness.run.execute import Outcome, output_names
from opproof.harness.truth import reference
from opproof.harness.truth.data import arguments, parameters
from opproof.harness.truth.reference import Expected
from opproof.reference_ops import Op
from opproof.reports import Worst
from opproof.vocabulary.arrays import Array

__all__ = ["Judgement", "Rules", "element", "expectations", "judge", "number"]


@dataclass(frozen=True)
class Judgement:
    """Verdict on one case and mode, before it becomes a record."""

    verdict: str
    message: str = ""
    units: float | None = None
    worst: Worst | None = None
    comparisons: tuple[tuple[str, Array, Expected, Comparison], ...] = ()  # for the diagnosis


def expectations(case: Case, op: Op, mode: str, outcome: Outcome, rules: Rules) -> Sequence[Expected | None]:
    """What the reference expects of the arrays of `outcome`; in gradient mode the op must have a vjp."""
    if mode == "forward":
        return reference.expected_forward(case, op, outcome.inputs, rules.declared)
    return reference.expected_vjp(case, op, outcome.inputs, outcome.cotangents, outcome.needs, rules.declared)


def judge(
    case: Case,
    op: Op,
    mode: str,
    outcome: Outcome,
    rules: Rules,
    expected: Sequence[Expected | None] | None = None,
) -> Judgement:
    """Judge the arrays of `outcome`, whose verdict is still open.

    `expected` saves the reference's work where many answers to one question are judged.
    """
    message = ""
    comparisons: Sequence[Comparison | None] = []
    by_reference = mode == "forward" or op.vjp is not None
    if expected is None:
        if by_reference:
            expected = expectations(case, op, mode, outcome, rules)
        else:
            expected, comparisons, message = by_differences(case, op, outcome, rules)
    arrays = outcome.arrays
    if mode == "forward":
        names: list[str | None] = list(output_names(op, len(expected)))
        if op.settled is not None:
            arrays = list(op.settled(arrays, *outcome.inputs, **parameters(case, op)))
        comparisons = [plain(case, g, e, rules) for g, e in zip(arrays, expected, strict=True)]
    else:
        names = arguments(case, op)
        if by_reference:
            comparisons, message = by_vjp(case, op, outcome, expected, rules)
    judged = [
        (str(n), a, e, c)
        for n, a, e, c in zip(names, arrays, expected, comparisons, strict=True)
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
    if message.startswith("?"):
        return Judgement("INCONCLUSIVE", message.lstrip("?"))
    if objection := vacuous(case, op, mode, expected, given, rules.declared):
        return Judgement("MISTRUSTED", objection, units, worst)
    return Judgement("PASS", message, units, worst)


def _worst(name: str, got: Array, expected: Expected, comparison: Comparison) -> Worst | None:
    return None if comparison.worst is None else element(name, got, expected, comparison, comparison.worst)


def element(name: str, got: Array, expected: Expected, comparison: Comparison, index: tuple[int, ...]) -> Worst:
    """What came and what was expected at `index` of the tensor `name`."""
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
