"""Judgements that nothing is wrong, and diagnoses, kept by the answer's bits: they follow from these and the rules.

A backend that answers as it did in an earlier run, bit for bit, is judged as it was then. Any other answer is judged
anew; the verdict on a wrong one is given anew in every run, and only how it looks is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from opproof.backends.worker.protocol import name_of
from opproof.core.arrays import Array, bytes_of
from opproof.core.verdicts import Verdict
from opproof.harness.judge.array_statistics import ArrayStatistics
from opproof.harness.judge.judgement import Judgement, Rules
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.question import Question
from opproof.harness.run.cache.sources import of_diagnoses
from opproof.reports import Worst

#: Answers to one question that are kept, the last ones: of several backends, and of each when it has changed.
MAX_KEPT_ANSWERS = 8


@dataclass(frozen=True, slots=True)
class Passed:
    """What Judgement holds where nothing is wrong."""

    message: str
    units: float | None
    limit: float | None
    figures: ArrayStatistics
    share: float | None
    worst: Worst | None
    left_out: tuple[str, ...]


def judge_or_recall(
    posed: Question, answer: Outputs, rules: Rules, judge: Callable[[], Judgement], case_data: Question | None = None
) -> Judgement:
    """The judgement of the answer: that of the same answer before, or what `judge` says of it.

    `case_data`: the question of the case, with which what is said of this one, of other data, is kept.
    """
    data = () if case_data is None else (*posed.inputs, *posed.cotangents)
    key = key_of(answer, rules, before=bool(posed.op.drawn_from), data=data)
    passed = (case_data or posed).passed
    known = passed.get(key)
    if known is not None:
        return Judgement(
            Verdict.PASS, known.message, known.units, known.limit, known.figures,
            share=known.share, worst=known.worst, left_out=known.left_out,
        )  # fmt: skip
    judgement = judge()
    if judgement.verdict is Verdict.PASS:
        j = judgement
        passed[key] = Passed(j.message, j.units, j.limit, j.figures, j.share, j.worst, j.left_out)
    return judgement


def key_of(answer: Outputs, rules: Rules, *, before: bool, data: Sequence[Array | None] = ()) -> bytes:
    """Of the bits of every array, their dtypes and shapes, and of how they are judged; with `before` also of what the
    answer is held against: that of the call before, and the other draws; `data`: those of another question.
    """
    parts = [answer.arrays, answer.before, answer.drawn] if before else [answer.arrays]
    parts += [data] if data else []
    told = [[None if a is None else (name_of(a.dtype), a.shape) for a in part] for part in parts]
    key = blake2b(repr((rules, told)).encode(), digest_size=32)
    for part in parts:
        for array in part:
            if array is not None:
                key.update(bytes_of(array).data)
    return key.digest()


@dataclass(frozen=True, slots=True)
class CachedDiagnosis:
    """What an error looks like, and what fits beside it."""

    label: str
    said: str
    also: tuple[tuple[str, str], ...]  # label and sentence of each


def explain_or_recall(
    posed: Question, answer: Outputs, rules: Rules | None, explain: Callable[[], CachedDiagnosis]
) -> CachedDiagnosis:
    """The diagnosis of a wrong answer: that of the same answer before, or what `explain` says of it."""
    key = of_diagnoses() + key_of(answer, Rules() if rules is None else rules, before=True)
    known: CachedDiagnosis | None = posed.told.get(key)
    if known is None:
        known = posed.told[key] = explain()
    return known
