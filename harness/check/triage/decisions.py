"""Failures where rounding decides otherwise: a comparison, a mask, a choice among the largest.

In 16 bits between the steps many numbers are equal, or 0, that are not in truth: shares of a router, sums before a
relu. What is chosen among them is as right as the choice of the truth, and so is all that follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.errors import OpError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.judge.judged_variant import JudgedVariant
from opproof.harness.check.triage.kinks import count_of, judge_again, places_of, replace_comparison
from opproof.harness.judge.array_statistics import BIAS, NO_STATISTICS, Rounding
from opproof.harness.judge.judgement import JudgedTensor, Judgement
from opproof.harness.reference.array_bias import MIN_WHOLE_VALUES, fit_slope
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.alternatives import BranchEffect, measure_branch_flips
from opproof.harness.reference.torch.evaluate import TorchQuestion
from opproof.harness.reference.torch.kinks import find_kink_gradients
from opproof.reports._text import format_count

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
            made[count + i] = end.widen(kinks.low - e.values, kinks.high - e.values)
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
    stored_well = figures.rounding in (Rounding.UNKNOWN, Rounding.NEAREST) and not figures.digits and not figures.moved
    if not end.offs or figures.rms is None or figures.bias is None or not stored_well:
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
