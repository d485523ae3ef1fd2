"""From an answer to a verdict: the reference is evaluated now, after the backend has answered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.harness.judge.answer import Answer
from opproof.harness.judge.bound import Comparison
from opproof.harness.judge.gradient import Compared, Rules, by_differences, by_vjp, plain
from opproof.harness.judge.vacuity import vacuous
from opproof.harness.truth.posed import Posed, output_names
from opproof.harness.truth.reference import Expected, expected_of
from opproof.reports import Worst
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import Verdict

__all__ = ["Judged", "Judgement", "Rules", "element", "judge", "number"]


@dataclass(frozen=True)
class Judged:
    """One output or gradient beside what is expected of it."""

    name: str
    got: Array
    expected: Expected
    comparison: Comparison


@dataclass(frozen=True)
class Judgement:
    """Verdict on one case and mode, before it becomes a record."""

    verdict: Verdict
    message: str = ""
    units: float | None = None
    worst: Worst | None = None
    tensors: tuple[Judged, ...] = ()  # of a wrong answer, for the diagnosis
    stale: bool = False  # the answer is, bit for bit, that of the call before, which had other data


def judge(posed: Posed, answer: Answer, rules: Rules, expected: Sequence[Expected | None] | None = None) -> Judgement:
    """Judge an answer of the right number, shapes and dtypes.

    `expected` saves the reference's work where many answers to one question are judged.
    """
    compared = _compared(posed, answer, rules, expected)
    if compared.doubt:
        return Judgement(Verdict.INCONCLUSIVE, compared.doubt)
    tensors = _tensors(posed, compared)
    failing = [j for j in tensors if not j.comparison.passed.all()]
    units = max((_largest(j) for j in tensors), default=0.0)
    farthest = max(failing or tensors, key=_largest, default=None)
    worst = _worst(farthest) if farthest is not None and (failing or units > 0) else None
    if failing or compared.objection:
        verdict = Verdict.WRONG_VALUE if posed.mode is Mode.FORWARD else Verdict.WRONG_GRADIENT
        return Judgement(verdict, compared.objection or compared.note, units, worst, tensors, _is_stale(answer))
    if objection := vacuous(posed, compared.expected, rules.declared):
        return Judgement(Verdict.MISTRUSTED, objection, units, worst)
    return Judgement(Verdict.PASS, compared.note, units, worst)


def _compared(posed: Posed, answer: Answer, rules: Rules, expected: Sequence[Expected | None] | None) -> Compared:
    if posed.mode is Mode.GRADIENT:
        if posed.op.vjp is None and expected is None:
            return by_differences(posed, answer, rules)
        return by_vjp(posed, answer, expected_of(posed, rules.declared) if expected is None else expected, rules)
    expected = expected_of(posed, rules.declared) if expected is None else expected
    arrays = answer.arrays
    if posed.op.settled is not None:
        arrays = list(posed.op.settled(arrays, *posed.inputs, **posed.params))
    comparisons = [plain(posed.case, g, e, rules) for g, e in zip(arrays, expected, strict=True)]
    return Compared(arrays, expected, comparisons)


def _tensors(posed: Posed, compared: Compared) -> tuple[Judged, ...]:
    forward = posed.mode is Mode.FORWARD
    names = output_names(posed.op, len(compared.arrays)) if forward else posed.names
    return tuple(
        Judged(str(n), a, e, c)
        for n, a, e, c in zip(names, compared.arrays, compared.expected, compared.comparisons, strict=True)
        if a is not None and e is not None and c is not None
    )


def _largest(judged: Judged) -> float:
    return float(np.max(judged.comparison.units, initial=0.0))


def _worst(judged: Judged) -> Worst | None:
    return None if judged.comparison.worst is None else element(judged, judged.comparison.worst)


def element(judged: Judged, index: tuple[int, ...]) -> Worst:
    """What came and what was expected at `index`."""
    return Worst(
        tensor=judged.name,
        index=index,
        got=number(judged.got[index]),
        expected=number(judged.expected.values[index]),
        bound=number(judged.comparison.bound[index]),
    )


def number(value: Any) -> float | str:
    """A JSON number, or nan, inf, -inf as text."""
    x = float(value)
    return x if math.isfinite(x) else str(x)


def _is_stale(answer: Answer) -> bool:
    """Whether the judged call answered exactly what the call before it did: the data, or the call, was ignored."""
    if not answer.before:
        return False
    pairs = [(a, b) for a, b in zip(answer.arrays, answer.before, strict=True) if a is not None and b is not None]
    return any(a.size for a, _ in pairs) and all(a.tobytes() == b.tobytes() for a, b in pairs if a.size)
