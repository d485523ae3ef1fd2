"""Failures looked at again where the reference decides by rounded numbers: an honest kernel may decide otherwise.

Element by element: what deciding otherwise does to an element passes there, and excuses no other.

Failures looked at again where noise as large as honest rounding would fail too: then nothing can be told.

Bounds are measured with noise so small that its effect grows with it. Where a reference is sensitive to its own
roundings, as the sine of an angle of many turns in 16 bits is, it does not: an honest kernel would be refused.

Failures looked at again where a reference takes numbers out of tensors: what PyTorch does not see has no noise.

`x.item()` keeps its noise (reference/torch/python_scalars.py); float(x) and math.sqrt(x.item()) lose it, and the bound is too
narrow by what such a number is off. How much that is, evaluations tell in which the numbers are noisy, whatever they
decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from opproof.core.dtypes import DTYPES, round_to
from opproof.core.errors import OpError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.judge.compare import compare
from opproof.harness.check.triage.kinks import compared_by, count_of, judged_again, places_of
from opproof.harness.judge.array_statistics import figures
from opproof.harness.judge.judgement import Judged, Judgement
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.alternatives import Decided, decided_anew
from opproof.harness.reference.torch.arithmetic import Arithmetic, Tape, Way
from opproof.harness.reference.torch.evaluate import Question, Truth, evaluated, key_of, true_amplitudes, truth
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


#: Evaluations with noise of its true size.
_TRUE = 2


def undecided(question: Question, known: Truth, judgements: Mapping[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; what is wrong where the reference under noise of its true size is too is INCONCLUSIVE."""
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG and j.tensors]
    beyond = _beyond(question, known) if wrong else frozenset()
    text = "honest rounding leaves the bound too: the reference is too sensitive here for a verdict"
    return {
        m: replace(j, verdict=Verdict.INCONCLUSIVE, message=text, tensors=()) if m in wrong and m in beyond else j
        for m, j in judgements.items()
    }


def _beyond(question: Question, known: Truth) -> frozenset[Mode]:
    """The modes in which noise of its true size leaves the bound."""
    import torch

    tape = Tape()
    evaluated(Arithmetic(torch, tape), question, 0.0)
    true = true_amplitudes(question)
    count = len(known.outputs)
    found = set()
    for run in range(_TRUE):
        ys = evaluated(Arithmetic(torch, tape.rewound(), true, key_of(question, run)), question, 1.0)
        kinds = question.results
        for i, (y, e, kind) in enumerate(zip(ys, (*known.outputs, *known.gradients), kinds, strict=True)):
            if y is None or e is None or not kind or e.exact:
                continue
            with np.errstate(all="ignore"):
                got = np.asarray(round_to(y, DTYPES[kind]))
            if not compare(got, e, kind).passed.all():
                found.add(Mode.FORWARD if i < count else Mode.GRADIENT)
    return frozenset(found)


def unknown(question: Question, known: Truth, judgements: Mapping[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; what is wrong within the noise of numbers that leave PyTorch is INCONCLUSIVE."""
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG and j.tensors]
    if not known.taken or not wrong:
        return dict(judgements)
    try:
        taken = truth(question, way=Way.TAKEN)
    except (RuntimeError, OpError):  # with noise in them they decide otherwise
        return dict(judgements)
    text = f"{known.taken[0]} takes a number out of a tensor, and its rounding is not known: let it stay a tensor"
    doubtful = replace(judgements[wrong[0]], verdict=Verdict.INCONCLUSIVE, message=text, tensors=())
    return {m: doubtful if m in wrong and _within(m, j, question, taken) else j for m, j in judgements.items()}


def _within(mode: Mode, judgement: Judgement, question: Question, taken: Truth) -> bool:
    if mode is Mode.FORWARD:
        wide: list[tuple[Expected | None, str]] = [*zip(taken.outputs, question.dtypes, strict=True)]
    else:
        each = zip(taken.gradients, question.kinds, question.needs, strict=True)
        wide = [(e, kind) for e, kind, need in each if need]
    if len(wide) != len(judgement.tensors):
        return False
    return all(_passes(j, e, kind or "f32") for j, (e, kind) in zip(judgement.tensors, wide, strict=True))


def _passes(judged: Any, wide: Expected | None, kind: str) -> bool:
    if wide is None:
        return False
    expected = replace(judged.expected, scale=np.maximum(judged.expected.scale, wide.scale))
    comparison = compare(judged.got, expected, kind)
    return comparison.right and not figures(judged.got, expected, comparison, kind).fault()
