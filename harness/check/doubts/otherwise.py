"""Failures looked at again where the reference decides by rounded numbers: an honest kernel may decide otherwise.

Element by element: what deciding otherwise does to an element passes there, and excuses no other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from opproof.core.errors import OpError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.doubts.excused import compared_by, count_of, judged_again, places_of
from opproof.harness.judge.judgement import Judged, Judgement
from opproof.harness.reference.torch.alternatives import Decided, decided_anew
from opproof.harness.reference.torch.evaluate import Question, Truth
from opproof.reports._text import plural


def decided_otherwise(question: Question, known: Truth, judgements: Mapping[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; what is wrong where rounding decides otherwise, and by no more than that, passes.

    INCONCLUSIVE where the reference takes other steps then, so that nobody knows by how much it may be off.
    """
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG and any(not t.comparison.right for t in j.tensors)]
    if not wrong:
        return dict(judgements)
    try:
        ends = decided_anew(question)
    except OpError:
        text = "the reference takes other steps where rounding decides otherwise: give it other data"
        open_ = {m: Judgement(Verdict.INCONCLUSIVE, text) for m in wrong}
        return {**judgements, **open_}
    places = {m: places_of(known, question.needs, m) for m in wrong}
    return {**judgements, **{m: _again(judgements[m], question, ends, places[m]) for m in wrong}}


def _again(
    judgement: Judgement, question: Question, ends: Sequence[Decided | None], places: Sequence[int]
) -> Judgement:
    if len(places) != len(judgement.tensors) or all(ends[i] is None for i in places):
        return judgement
    pairs = zip(judgement.tensors, places, strict=True)
    again = [_excused(t, ends[i], question.results[i]) for t, i in pairs]
    judged = judged_again(judgement, again)
    if judged.verdict is not Verdict.PASS:
        return judged
    count = plural(count_of(judgement, again), "element")
    said = f"{count} where rounding decides otherwise: within what that does to the reference"
    return replace(judged, message=said)


def _excused(judged: Judged, end: Decided | None, kind: str) -> Judged:
    if end is None or judged.comparison.right or end.low.shape != judged.got.shape:
        return judged
    with np.errstate(all="ignore"):
        off = judged.got.astype(np.float64) - judged.expected.values.astype(np.float64)
    mask = ~judged.comparison.passed & end.reaches(off, judged.comparison.bound)
    return compared_by(judged, judged.comparison.excusing(mask), kind)
