"""Gradients that are wrong at kinks alone, and results of nothing, for which anybody may have a convention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.judge.judged_variant import JudgedVariant
from opproof.harness.check.judge.outcome import VariantResult, by_candidate, make_untelling
from opproof.harness.check.tensors import CallTensor
from opproof.harness.check.variants.fills import ZEROED
from opproof.harness.check.variants.variant import Excused
from opproof.harness.judge.array_statistics import measure_array
from opproof.harness.judge.bound import Comparison
from opproof.harness.judge.gradient import waive_at_kinks
from opproof.harness.judge.judgement import JudgedTensor, Judgement, make_passing_judgement
from opproof.harness.reference.torch.evaluate import Truth
from opproof.harness.reference.torch.kinks import MANY_RANDOM_POINTS, RANDOM_POINTS, KinkGradients, find_kink_gradients
from opproof.reports._text import format_count

#: A gradient there is so many times the largest that is expected anywhere at most: of two kinks both may be taken. And
#: so many times the largest cotangent where all that is expected is 0, as of relu before which all is 0.
_MAX_GRADIENT_RATIO = 4.0
_MAX_COTANGENT_RATIO = 2.0**10
#: What is said of results that are excused.
_OTHER = "the candidate gives other numbers than the reference there, which may be a convention of its own"
_NONE = "the candidate gives no number there, and the reference does; no draw has it, and none could"


def pass_zeros(one: JudgedVariant) -> JudgedVariant:
    """Pass a gradient that is wrong where its own input is 0 alone, of variants with zeros.

    A formula may have kinks there that cancel: max(x, 0) + log1p(exp(-|x|)) is smooth, and autograd gives 1 at 0, not
    1/2. Not where the candidate has a backward of its own, which has no kinks by the way.
    """
    wrong = one.judgements.get(Mode.GRADIENT)
    own = one.variant.fill != ZEROED or one.reply.own_backward
    if own or wrong is None or wrong.verdict is not Verdict.WRONG_GRADIENT:
        return one
    request = one.asked.request
    values = {t.name: t for t in request.tensors}
    given = max(_find_largest(g) for g in request.cotangents if g is not None)
    judged = judge_again(wrong, [_judge_at_zeros(j, values[j.name], given) for j in wrong.tensors])
    if judged.verdict is Verdict.PASS:
        judged = replace(judged, message="wrong only where the input is 0: within what a formula with kinks may give")
    return one.with_changed({Mode.GRADIENT: judged})


def _judge_at_zeros(judged: JudgedTensor, given: CallTensor, cotangent: float) -> JudgedTensor:
    if judged.comparison.right or given.values.shape != judged.got.shape:
        return judged
    most = _MAX_GRADIENT_RATIO * _find_largest(judged.expected.values) or _MAX_COTANGENT_RATIO * cotangent
    with np.errstate(all="ignore"):
        small = np.abs(judged.got) <= most
    mask = ~judged.comparison.passed & (given.values == 0) & small
    return replace_comparison(judged, judged.comparison.with_waived(mask), given.kind)


def _find_largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def pass_kinks(one: JudgedVariant) -> JudgedVariant:
    """Pass a gradient that is wrong at kinks alone, and there lies between the derivatives on both sides."""
    wrong = one.judgements.get(Mode.GRADIENT)
    if wrong is None or wrong.verdict is not Verdict.WRONG_GRADIENT or not wrong.tensors:
        return one
    asked = [i for i, need in enumerate(one.question.needs) if need]
    if len(asked) != len(wrong.tensors):
        return one
    pairs = list(zip(asked, wrong.tensors, strict=True))
    for times in (RANDOM_POINTS, MANY_RANDOM_POINTS):
        known = find_kink_gradients(one.question, times)
        again = [_judge_at_kinks(j, known[i], one.question.kinds[i] or "f32") for i, j in pairs]
        judged = judge_again(wrong, again)
        beside = sum(_count_beside_kinks(j, known[i]) for i, j in zip(asked, again, strict=True))
        if judged.verdict is Verdict.PASS or 2 * beside > sum(_count_beside_kinks(j, None) for j in wrong.tensors):
            break
    if judged.verdict is Verdict.PASS:
        count = format_count(count_of(wrong, again), "element")
        judged = replace(judged, message=f"{count} at kinks: between the derivatives on either side")
    return one.with_changed({Mode.GRADIENT: judged})


def _count_beside_kinks(judged: JudgedTensor, where: KinkGradients | None) -> int:
    """How many wrong elements are at no known kink; of a median of many equals points at random miss some that are."""
    wrong = ~judged.comparison.passed
    return int((wrong if where is None else wrong & ~where.at).sum())


def _judge_at_kinks(judged: JudgedTensor, where: KinkGradients | None, kind: str) -> JudgedTensor:
    if where is None or judged.comparison.right:
        return judged
    waived = waive_at_kinks(judged.got, judged.comparison, where.over_many(), kind, whole=True)
    return replace_comparison(judged, waived, kind)


def decline_convention(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Decline wrong results of a variant whose results are excused, as of a row that is masked in full.

    Any number is a convention there. NaN where the reference has a number destroys a batch for one sequence without a
    token; but where every draw rules it out, as by a first place that is never masked, nobody asks for that either.
    Where the reference has no number itself nothing follows.
    """
    wrong = [j for j in one.judgements.values() if j.verdict in (Verdict.WRONG_VALUE, Verdict.WRONG_GRADIENT)]
    if one.variant.excused is Excused.NOTHING or not wrong:
        return one
    each = ([(t.got, t.expected.values) for t in j.tensors if t.got.dtype.kind == "f"] for j in wrong)
    known = [some for some in each if all(np.isfinite(e).all() for _, e in some)]
    if not known:
        return make_untelling(one.variant)
    if all(np.isfinite(got).all() for some in known for got, _ in some):
        return by_candidate(one.variant, _OTHER, news=True)
    return by_candidate(one.variant, _NONE, news=True) if one.variant.excused is Excused.ALL else one


def replace_comparison(judged: JudgedTensor, comparison: Comparison, kind: str) -> JudgedTensor:
    """The array, of a dtype `kind`, with another comparison of its elements."""
    figures = measure_array(judged.got, judged.expected, comparison, kind or "f32")
    return replace(judged, comparison=comparison, figures=figures)


def judge_again(wrong: Judgement, again: Sequence[JudgedTensor]) -> Judgement:
    """The judgement of arrays of which elements were excused: it passes where none is left, and no whole is wrong.

    What is wrong with a whole alone stays as it was said.
    """
    if any(not j.comparison.right for j in again):
        return replace(wrong, tensors=tuple(again))
    if not again or any(j.figures.fault() for j in again):
        return wrong
    return make_passing_judgement(again, [])


def count_of(wrong: Judgement, again: Sequence[JudgedTensor]) -> int:
    """How many elements were excused."""
    pairs = zip(again, wrong.tensors, strict=True)
    return sum(int((a.comparison.passed & ~b.comparison.passed).sum()) for a, b in pairs)


def places_of(known: Truth, needs: Sequence[bool], mode: Mode) -> list[int]:
    """Of the arrays of a judgement, in their order, the numbers among outputs and gradients."""
    count = len(known.outputs)
    if mode is Mode.FORWARD:
        return list(range(count))
    each = enumerate(zip(known.gradients, needs, strict=True))
    return [count + i for i, (e, need) in each if need and e is not None]
