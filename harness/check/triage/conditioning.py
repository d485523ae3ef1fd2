"""Failures looked at again where the reference decides by rounded numbers: an honest kernel may decide otherwise.

Element by element: what deciding otherwise does to an element passes there, and excuses no other.

Failures looked at again where noise as large as honest rounding would fail too: then nothing can be told.

Bounds are measured with noise so small that its effect grows with it. Where a reference is sensitive to its own
roundings, as the sine of an angle of many turns in 16 bits is, it does not: an honest kernel would be refused.

Failures looked at again where a reference takes numbers out of tensors: what PyTorch does not see has no noise.

`x.item()` keeps its noise (reference/torch/python_scalars.py); float(x) and math.sqrt(x.item()) lose it, and the bound
is too narrow by what such a number is off. How much that is, evaluations tell in which the numbers are noisy, whatever
they decide.
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
from opproof.harness.check.triage.kinks import count_of, judge_again, places_of, replace_comparison
from opproof.harness.judge.array_statistics import measure_array
from opproof.harness.judge.judgement import JudgedTensor, Judgement
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.alternatives import BranchEffect, measure_branch_flips
from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic, BranchTape
from opproof.harness.reference.torch.evaluate import (
    TorchQuestion,
    Truth,
    compute_truth,
    evaluate_question,
    key_of,
    true_amplitudes_of,
)
from opproof.reports._text import format_count


def judge_other_decisions(
    question: TorchQuestion, known: Truth, judgements: Mapping[Mode, Judgement]
) -> dict[Mode, Judgement]:
    """The judgements; what is wrong where rounding decides otherwise, and by no more than that, passes.

    INCONCLUSIVE where the reference takes other steps then, so that nobody knows by how much it may be off.
    """
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG and any(not t.comparison.right for t in j.tensors)]
    if not wrong:
        return dict(judgements)
    try:
        ends = measure_branch_flips(question)
    except OpError:
        text = "the reference takes other steps where rounding decides otherwise: give it other data"
        open_ = {m: Judgement(Verdict.INCONCLUSIVE, text) for m in wrong}
        return {**judgements, **open_}
    places = {m: places_of(known, question.needs, m) for m in wrong}
    return {**judgements, **{m: _judge_between_ends(judgements[m], question, ends, places[m]) for m in wrong}}


def _judge_between_ends(
    judgement: Judgement, question: TorchQuestion, ends: Sequence[BranchEffect | None], places: Sequence[int]
) -> Judgement:
    if len(places) != len(judgement.tensors) or all(ends[i] is None for i in places):
        return judgement
    pairs = zip(judgement.tensors, places, strict=True)
    again = [_pass_between_ends(t, ends[i], question.results[i]) for t, i in pairs]
    judged = judge_again(judgement, again)
    if judged.verdict is not Verdict.PASS:
        return judged
    count = format_count(count_of(judgement, again), "element")
    said = f"{count} where rounding decides otherwise: within what that does to the reference"
    return replace(judged, message=said)


def _pass_between_ends(judged: JudgedTensor, end: BranchEffect | None, kind: str) -> JudgedTensor:
    if end is None or judged.comparison.right or end.low.shape != judged.got.shape:
        return judged
    with np.errstate(all="ignore"):
        off = judged.got.astype(np.float64) - judged.expected.values.astype(np.float64)
    mask = ~judged.comparison.passed & end.find_reached(off, judged.comparison.bound)
    return replace_comparison(judged, judged.comparison.with_waived(mask), kind)


#: Evaluations with noise of its true size.
_TRUE_NOISE_RUNS = 2


def mark_ill_conditioned(
    question: TorchQuestion, known: Truth, judgements: Mapping[Mode, Judgement]
) -> dict[Mode, Judgement]:
    """The judgements; what is wrong where the reference under noise of its true size is too is INCONCLUSIVE."""
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG and j.tensors]
    beyond = _find_modes_beyond_bound(question, known) if wrong else frozenset()
    text = "honest rounding leaves the bound too: the reference is too sensitive here for a verdict"
    return {
        m: replace(j, verdict=Verdict.INCONCLUSIVE, message=text, tensors=()) if m in wrong and m in beyond else j
        for m, j in judgements.items()
    }


def _find_modes_beyond_bound(question: TorchQuestion, known: Truth) -> frozenset[Mode]:
    """The modes in which noise of its true size leaves the bound."""
    import torch

    tape = BranchTape()
    evaluate_question(Arithmetic(torch, tape), question, 0.0)
    true = true_amplitudes_of(question)
    count = len(known.outputs)
    found = set()
    for run in range(_TRUE_NOISE_RUNS):
        ys = evaluate_question(Arithmetic(torch, tape.restart(), true, key_of(question, run)), question, 1.0)
        kinds = question.results
        for i, (y, e, kind) in enumerate(zip(ys, (*known.outputs, *known.gradients), kinds, strict=True)):
            if y is None or e is None or not kind or e.exact:
                continue
            with np.errstate(all="ignore"):
                got = np.asarray(round_to(y, DTYPES[kind]))
            if not compare(got, e, kind).passed.all():
                found.add(Mode.FORWARD if i < count else Mode.GRADIENT)
    return frozenset(found)


def mark_scalar_reads(
    question: TorchQuestion, known: Truth, judgements: Mapping[Mode, Judgement]
) -> dict[Mode, Judgement]:
    """The judgements; what is wrong within the noise of numbers that leave PyTorch is INCONCLUSIVE."""
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG and j.tensors]
    if not known.taken or not wrong:
        return dict(judgements)
    try:
        taken = compute_truth(question, algorithm=Algorithm.SCALAR_NOISE)
    except (RuntimeError, OpError):  # with noise in them they decide otherwise
        return dict(judgements)
    text = f"{known.taken[0]} takes a number out of a tensor, and its rounding is not known: let it stay a tensor"
    doubtful = replace(judgements[wrong[0]], verdict=Verdict.INCONCLUSIVE, message=text, tensors=())
    return {m: doubtful if m in wrong and _is_within_noise(m, j, question, taken) else j for m, j in judgements.items()}


def _is_within_noise(mode: Mode, judgement: Judgement, question: TorchQuestion, taken: Truth) -> bool:
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
    return comparison.right and not measure_array(judged.got, expected, comparison, kind).fault()
