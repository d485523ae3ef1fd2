"""Whole numbers that are wrong by the truth, and that the reference itself has in the dtypes of the candidate: right.

In float64 the smallest shares of a softmax are in order; in float32 they are 0 and equal, and another one is the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opproof.core.verdicts import WRONG, Mode
from opproof.harness.check.doubts.excused import compared_by, judged_again
from opproof.harness.check.sides.exchange import Answered
from opproof.harness.judge.judgement import Judged, Judgement


def chosen_alike(outputs: Sequence[Answered], judgements: Mapping[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; `outputs` are the reference's own in the dtypes that were asked."""
    wrong = judgements.get(Mode.FORWARD)
    if wrong is None or wrong.verdict not in WRONG or len(outputs) != len(wrong.tensors):
        return dict(judgements)
    again = [_excused(judged, own) for judged, own in zip(wrong.tensors, outputs, strict=True)]
    if all(a is b for a, b in zip(again, wrong.tensors, strict=True)):
        return dict(judgements)
    return {**judgements, Mode.FORWARD: judged_again(wrong, again)}


def _excused(judged: Judged, own: Answered) -> Judged:
    whole = judged.expected.values.dtype.kind in "iub" and judged.got.shape == own.values.shape
    if judged.comparison.right or not whole:
        return judged
    return compared_by(judged, judged.comparison.excusing(judged.got == own.values), "")
