"""Wrong gradients looked at again: at kinks any value between the derivatives on either side is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opproof.harness.judge.between import excused
from opproof.harness.judge.figures import figures
from opproof.harness.judge.judgement import Judged, Judgement, measured
from opproof.harness.truth.torch.evaluate import Question
from opproof.harness.truth.torch.kinks import Between, between
from opproof.reports._text import plural
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import Verdict


def at_kinks(question: Question, judgements: Mapping[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; a gradient that is wrong at kinks alone, and there lies between both sides, passes."""
    wrong = judgements.get(Mode.GRADIENT)
    if wrong is None or wrong.verdict is not Verdict.WRONG_GRADIENT or not wrong.tensors:
        return dict(judgements)
    asked = [i for i, need in enumerate(question.needs) if need]
    if len(asked) != len(wrong.tensors):
        return dict(judgements)
    known = between(question)
    again = [_again(j, known[i], question.kinds[i] or "f32") for i, j in zip(asked, wrong.tensors, strict=True)]
    failing = [j for j in again if not j.comparison.right]
    if failing or any(j.figures.fault() for j in again):
        return {**judgements, Mode.GRADIENT: replace(wrong, tensors=tuple(again)) if failing else wrong}
    pairs = zip(again, wrong.tensors, strict=True)
    count = sum(int((a.comparison.passed & ~b.comparison.passed).sum()) for a, b in pairs)
    said = f"{plural(count, 'element')} at kinks: between the derivatives on either side"
    passed = replace(measured(again, []), message=said)
    return {**judgements, Mode.GRADIENT: passed}


def _again(judged: Judged, where: Between | None, kind: str) -> Judged:
    if where is None or judged.comparison.right:
        return judged
    comparison = excused(judged.got, judged.comparison, where)
    return replace(judged, comparison=comparison, figures=figures(judged.got, judged.expected, comparison, kind))
