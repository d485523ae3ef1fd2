"""Wrong gradients looked at again: at kinks any value between the derivatives on either side is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.doubts.excused import compared_by, count_of, judged_again
from opproof.harness.judge.judgement import Judged, Judgement
from opproof.harness.judge.kinks import waive_at_kinks
from opproof.harness.reference.torch.evaluate import Question
from opproof.harness.reference.torch.kinks import OFTEN, RANDOM, Between, between
from opproof.reports._text import plural


def at_kinks(question: Question, judgements: Mapping[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; a gradient that is wrong at kinks alone, and there lies between both sides, passes."""
    wrong = judgements.get(Mode.GRADIENT)
    if wrong is None or wrong.verdict is not Verdict.WRONG_GRADIENT or not wrong.tensors:
        return dict(judgements)
    asked = [i for i, need in enumerate(question.needs) if need]
    if len(asked) != len(wrong.tensors):
        return dict(judgements)
    for times in (RANDOM, OFTEN):
        known = between(question, times)
        again = [_again(j, known[i], question.kinds[i] or "f32") for i, j in zip(asked, wrong.tensors, strict=True)]
        judged = judged_again(wrong, again)
        beside = sum(_beside(j, known[i]) for i, j in zip(asked, again, strict=True))
        if judged.verdict is Verdict.PASS or 2 * beside > sum(_beside(j, None) for j in wrong.tensors):
            break
    if judged.verdict is Verdict.PASS:
        count = plural(count_of(wrong, again), "element")
        judged = replace(judged, message=f"{count} at kinks: between the derivatives on either side")
    return {**judgements, Mode.GRADIENT: judged}


def _beside(judged: Judged, where: Between | None) -> int:
    """How many wrong elements are at no known kink; of a median of many equals points at random miss some that are."""
    wrong = ~judged.comparison.passed
    return int((wrong if where is None else wrong & ~where.at).sum())


def _again(judged: Judged, where: Between | None, kind: str) -> Judged:
    if where is None or judged.comparison.right:
        return judged
    return compared_by(judged, waive_at_kinks(judged.got, judged.comparison, where, kind), kind)
