"""Failures looked at again where the reference decides by rounded numbers: an honest kernel may decide otherwise.

Element by element: what deciding otherwise does to an element passes there, and excuses no other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from opproof.harness.judge.figures import figures
from opproof.harness.judge.judgement import Judged, Judgement, measured
from opproof.harness.truth.torch.anew import Decided, decided_anew
from opproof.harness.truth.torch.evaluate import Question, Truth
from opproof.reports._text import plural
from opproof.vocabulary.errors import OpError
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import WRONG, Verdict


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
    count = len(known.outputs)
    gradients = zip(known.gradients, question.needs, ends[count:], question.kinds, strict=True)
    of = {
        Mode.FORWARD: list(zip(ends[:count], question.dtypes, strict=True)),
        Mode.GRADIENT: [(end, kind) for e, need, end, kind in gradients if need and e is not None],
    }
    return {**judgements, **{m: _again(judgements[m], of[m]) for m in wrong}}


def _again(judgement: Judgement, of: Sequence[tuple[Decided | None, str]]) -> Judgement:
    if len(of) != len(judgement.tensors) or all(end is None for end, _ in of):
        return judgement
    again = [_excused(t, end, kind or "f32") for t, (end, kind) in zip(judgement.tensors, of, strict=True)]
    failing = [t for t in again if not t.comparison.right]
    if failing or any(t.figures.fault(declarable=False) for t in again):
        return replace(judgement, tensors=tuple(again)) if failing else judgement
    pairs = zip(again, judgement.tensors, strict=True)
    count = sum(int((a.comparison.passed & ~b.comparison.passed).sum()) for a, b in pairs)
    said = f"{plural(count, 'element')} where rounding decides otherwise: within what that does to the reference"
    return replace(measured(again, []), message=said)


def _excused(judged: Judged, end: Decided | None, kind: str) -> Judged:
    if end is None or judged.comparison.right or end.low.shape != judged.got.shape:
        return judged
    with np.errstate(all="ignore"):
        off = judged.got.astype(np.float64) - judged.expected.values.astype(np.float64)
    mask = ~judged.comparison.passed & end.reaches(off, judged.comparison.bound)
    comparison = judged.comparison.excusing(mask)
    return replace(judged, comparison=comparison, figures=figures(judged.got, judged.expected, comparison, kind))
