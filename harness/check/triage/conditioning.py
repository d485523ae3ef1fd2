"""Failures where rounding decides, or is larger than its bound: by a wider truth they may pass, or say nothing.

Bounds are measured with noise so small that its effect grows with it. It does not where a reference is sensitive to its
own roundings, as the sine of an angle of many turns in 16 bits is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from opproof.core.dtypes import DTYPES, round_to
from opproof.core.errors import OpError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.judge.compare import compare
from opproof.harness.check.judge.judged_variant import JudgedVariant
from opproof.harness.check.triage.decisions import pass_other_decisions
from opproof.harness.check.triage.kinks import pass_kinks
from opproof.harness.judge.array_statistics import measure_array
from opproof.harness.judge.judgement import JudgedTensor, Judgement
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.alternatives import widen_truth
from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic, BranchTape
from opproof.harness.reference.torch.evaluate import (
    TorchQuestion,
    Truth,
    compute_truth,
    evaluate_question,
    key_of,
    true_amplitudes_of,
)

#: Evaluations with noise of its true size.
_TRUE_NOISE_RUNS = 2
#: What is said of what is open.
_TOO_SENSITIVE = "honest rounding leaves the bound too: the reference is too sensitive here for a verdict"


def judge_by_wider_truth(one: JudgedVariant) -> JudgedVariant:
    """Judge what is wrong by a wider truth: by other algorithms, at kinks, where rounding decides, by its true size."""
    if not one.fails:
        return one
    try:
        known = widen_truth(one.question, one.known)
    except RuntimeError:  # PyTorch's backward takes other steps under noise: by the reference's own formula alone then
        return one
    one = replace(one, known=known, judgements=one.judge(known))
    for step in (pass_kinks, pass_other_decisions, mark_ill_conditioned, mark_scalar_reads):
        one = step(one)
    return one


def _list_wrong(one: JudgedVariant) -> list[Mode]:
    """The modes in which arrays are wrong."""
    return [m for m, j in one.judgements.items() if j.verdict in WRONG and j.tensors]


def mark_ill_conditioned(one: JudgedVariant) -> JudgedVariant:
    """Mark what is wrong where the reference under noise of its true size is too as INCONCLUSIVE."""
    wrong = _list_wrong(one)
    beyond = _find_modes_beyond_bound(one.question, one.known) if wrong else frozenset()
    text, open_ = _TOO_SENSITIVE, Verdict.INCONCLUSIVE
    return one.with_changed(
        {m: replace(one.judgements[m], verdict=open_, message=text, tensors=()) for m in wrong if m in beyond}
    )


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


def mark_scalar_reads(one: JudgedVariant) -> JudgedVariant:
    """Mark what is wrong within the noise of numbers that leave PyTorch as INCONCLUSIVE.

    `x.item()` keeps its noise (reference/torch/python_scalars.py); float(x) and math.sqrt(x.item()) lose it. By how
    much such a number is off tell evaluations in which it is noisy, whatever they decide.
    """
    wrong, known = _list_wrong(one), one.known
    if not known.taken or not wrong:
        return one
    try:
        taken = compute_truth(one.question, algorithm=Algorithm.SCALAR_NOISE)
    except (RuntimeError, OpError):  # with noise in them they decide otherwise
        return one
    text = f"{known.taken[0]} takes a number out of a tensor, and its rounding is not known: let it stay a tensor"
    doubtful = replace(one.judgements[wrong[0]], verdict=Verdict.INCONCLUSIVE, message=text, tensors=())
    within = (m for m in wrong if _is_within_noise(m, one.judgements[m], one.question, taken))
    return one.with_changed(dict.fromkeys(within, doubtful))


def _is_within_noise(mode: Mode, judgement: Judgement, question: TorchQuestion, taken: Truth) -> bool:
    if mode is Mode.FORWARD:
        wide: list[tuple[Expected | None, str]] = [*zip(taken.outputs, question.dtypes, strict=True)]
    else:
        each = zip(taken.gradients, question.kinds, question.needs, strict=True)
        wide = [(e, kind) for e, kind, need in each if need]
    if len(wide) != len(judgement.tensors):
        return False
    return all(_passes(j, e, kind or "f32") for j, (e, kind) in zip(judgement.tensors, wide, strict=True))


def _passes(judged: JudgedTensor, wide: Expected | None, kind: str) -> bool:
    if wide is None:
        return False
    expected = replace(judged.expected, scale=np.maximum(judged.expected.scale, wide.scale))
    comparison = compare(judged.got, expected, kind)
    return comparison.right and not measure_array(judged.got, expected, comparison, kind).fault()
