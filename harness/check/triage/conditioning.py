"""Failures where rounding decides, or is larger than its bound: by a wider truth they may pass, or say nothing.

Bounds are measured with noise so small that its effect grows with it. It does not where a reference is sensitive to its
own roundings, as the sine of an angle of many turns in 16 bits is.

In 16 bits between the steps many numbers are equal, or 0, that are not in truth: shares of a router, sums before a
relu. What is chosen among them is as right as the choice of the truth, and so is all that follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.errors import OpError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.judge.compare import compare
from opproof.harness.check.judge.judged_variant import JudgedVariant
from opproof.harness.check.triage.kinks import count_of, judge_again, pass_kinks, places_of, replace_comparison
from opproof.harness.judge.array_statistics import BIAS, NO_STATISTICS, measure_array
from opproof.harness.judge.judgement import JudgedTensor, Judgement
from opproof.harness.reference.array_bias import MIN_WHOLE_VALUES, fit_slope
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.alternatives import BranchEffect, iter_wider_truths, measure_branch_flips
from opproof.harness.reference.torch.arithmetic import Algorithm
from opproof.harness.reference.torch.evaluate import TorchQuestion, Truth, compute_truth, iter_true_noise
from opproof.harness.reference.torch.kinks import find_kink_gradients
from opproof.reports._text import format_count

#: Evaluations with noise of its true size.
_TRUE_NOISE_RUNS = 2
#: What is said of what is open.
_TOO_SENSITIVE = "honest rounding leaves the bound too: the reference is too sensitive here for a verdict"


def judge_by_wider_truth(one: JudgedVariant) -> JudgedVariant:
    """Judge what is wrong by a wider truth: by other algorithms, at kinks, where rounding decides, by its true size."""
    if not one.fails:
        return one
    try:
        for known in iter_wider_truths(one.question, one.known):
            wider = replace(one, known=known, judgements=one.judge(known))
            if not wider.fails:
                return wider
    except RuntimeError:  # PyTorch's backward takes other steps under noise: by the reference's own formula alone then
        return one
    for step in (pass_kinks, pass_other_decisions, mark_ill_conditioned, mark_scalar_reads):
        wider = step(wider)
    return wider


def _list_wrong(one: JudgedVariant) -> list[Mode]:
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
    count = len(known.outputs)
    found = set()
    for ys in iter_true_noise(question, _TRUE_NOISE_RUNS):
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

    `x.item()` keeps its noise (reference/torch/dtype_leaks.py); float(x) and math.sqrt(x.item()) lose it. By how
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


#: What is said of what is open.
_OTHER_STEPS = "the reference takes other steps where rounding decides otherwise: give it other data"
_MOST_DECIDED = "rounding decides most of it as it is stored: give it other data, or another dtype"
#: By so many times what one evaluation that decided otherwise is off as a whole may a candidate be.
_WHOLE_FACTOR = 1.5
#: The share of elements from which on what rounding decides is most of an array.
_MOST_SHARE = 0.5


def pass_other_decisions(one: JudgedVariant) -> JudgedVariant:
    """Pass what is wrong where rounding decides otherwise, and by no more than that, element by element.

    INCONCLUSIVE where the reference takes other steps then, so that nobody knows by how much it may be off; and where
    stores in 16 bits are declared and decide most of an array.
    """
    stored = one.question.compute == "storage"
    wrong = [
        m for m, j in one.judgements.items()
        if j.verdict in WRONG and j.tensors and (stored or any(not t.comparison.right for t in j.tensors))
    ]  # fmt: skip
    if not wrong:
        return one
    try:
        ends = measure_branch_flips(one.question)
    except OpError:
        return one.with_changed({m: Judgement(Verdict.INCONCLUSIVE, _OTHER_STEPS) for m in wrong})
    if stored and Mode.GRADIENT in wrong:
        ends = _widen_at_kinks(one, ends)
    places = {m: places_of(one.known, one.question.needs, m) for m in wrong}
    return one.with_changed({m: _judge_between_ends(one.judgements[m], one.question, ends, places[m]) for m in wrong})


def _widen_at_kinks(one: JudgedVariant, ends: Sequence[BranchEffect | None]) -> list[BranchEffect | None]:
    """The ends of gradients, with what a kink may do besides: of one sum some terms are at kinks, some near them."""
    count, made = len(one.question.dtypes), list(ends)
    for i, (kinks, e) in enumerate(zip(find_kink_gradients(one.question), one.known.gradients, strict=True)):
        end = made[count + i]
        if end is not None and kinks is not None and e is not None:
            wide = kinks.over_many()
            made[count + i] = end.widen(wide.low - e.values, wide.high - e.values)
    return made


def _judge_between_ends(
    judgement: Judgement, question: TorchQuestion, ends: Sequence[BranchEffect | None], places: Sequence[int]
) -> Judgement:
    if len(places) != len(judgement.tensors) or all(ends[i] is None for i in places):
        return judgement
    stored = question.compute == "storage"
    pairs = list(zip(judgement.tensors, places, strict=True))
    again = [_pass_between_ends(t, ends[i], question.results[i], stored=stored) for t, i in pairs]
    judged = judge_again(judgement, again)
    if judged.verdict is Verdict.PASS:
        count = format_count(count_of(judgement, again), "element")
        said = f"{count} where rounding decides otherwise: within what that does to the reference"
        return replace(judged, message=said)
    wrong = [(t, ends[i], question.results[i]) for t, i in pairs if not t.comparison.right]
    if stored and wrong and all(_is_mostly_decided(*each) for each in wrong):
        return Judgement(Verdict.INCONCLUSIVE, _MOST_DECIDED)
    return judged


def _pass_between_ends(judged: JudgedTensor, end: BranchEffect | None, kind: str, *, stored: bool) -> JudgedTensor:
    if end is None or end.low.shape != judged.got.shape or (judged.comparison.right and not stored):
        return judged
    with np.errstate(all="ignore"):
        off = judged.got.astype(np.float64) - judged.expected.values.astype(np.float64)
    mask = ~judged.comparison.passed & end.find_reached(off, judged.comparison.bound)
    made = replace_comparison(judged, judged.comparison.with_waived(mask), kind)
    if not stored or not made.comparison.right or not made.figures.fault():
        return made
    return replace(made, figures=NO_STATISTICS) if _explains_whole(made, end, kind) else made


def _explains_whole(judged: JudgedTensor, end: BranchEffect, kind: str) -> bool:
    """Whether deciding otherwise makes the whole wrong by as much: elements that pass alone are off by it too.

    By the elements that it does not reach, where these are enough; else by how far it moves the whole.
    """
    figures, comparison = judged.figures, judged.comparison
    with np.errstate(all="ignore"):
        honest = DTYPES[kind].u * (judged.expected.scale + np.abs(judged.expected.values))
        reached = end.high - end.low > honest
    if np.count_nonzero(np.isfinite(comparison.signed) & ~reached) >= MIN_WHOLE_VALUES:
        return not replace_comparison(judged, comparison.with_waived(reached), kind).figures.fault()
    if not end.offs or figures.rms is None or figures.bias is None or not figures.is_stored_well:
        return False
    counts = np.isfinite(comparison.signed)
    each = [_measure_whole(off, judged.expected, kind, counts) for off in end.offs]
    rms, bias, slope = (max(abs(e[n]) for e in each) for n in range(3))
    return (
        figures.rms <= figures.most + _WHOLE_FACTOR * rms
        and abs(figures.bias) <= BIAS + _WHOLE_FACTOR * bias
        and abs(figures.slope) <= figures.steepest + _WHOLE_FACTOR * slope
    )


def _measure_whole(off: Array, expected: Expected, kind: str, counts: NDArray[np.bool_]) -> tuple[float, float, float]:
    """The RMS and the mean of signed units of what elements are off by, and the factor less 1 that fits it."""
    off, values, scale = off[counts], expected.values[counts], expected.scale[counts]
    with np.errstate(all="ignore"):
        units = np.sign(values) * off / (DTYPES[kind].u * (scale + np.abs(values)))
    units = units[np.isfinite(units)]
    if not units.size:
        return 0.0, 0.0, 0.0
    return float(np.sqrt(np.mean(np.square(units)))), float(np.mean(units)), fit_slope(off, values, scale)


def _is_mostly_decided(judged: JudgedTensor, end: BranchEffect | None, kind: str) -> bool:
    """Whether deciding otherwise moves most of a wrong array out of its bounds, and the whole by as much as it is."""
    if end is None or not end.offs or not kind or end.low.shape != judged.got.shape:
        return False
    moved = end.high - end.low > judged.comparison.bound
    if moved.mean() < _MOST_SHARE:
        return False
    expected, whole = judged.expected, np.ones(judged.got.shape, dtype=bool)
    off = judged.got.astype(np.float64) - expected.values
    own = _measure_whole(off, expected, kind, whole)
    each = [_measure_whole(o, expected, kind, whole) for o in end.offs]
    rms, _, slope = (max(abs(e[n]) for e in each) for n in range(3))
    return own[0] <= _WHOLE_FACTOR * rms and abs(own[2]) <= _WHOLE_FACTOR * slope
