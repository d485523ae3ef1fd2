"""Failures that a coarser precision explains: one that the reference has by itself, or one that is to be declared.

With stores in 16 bits between its steps a gradient may have a bound of several percent, though nobody errs so much.
There a candidate is compared with two implementations that are honest: the reference as PyTorch computes it in these
dtypes, and the reference in float64 with a rounding of its true size at every store. Who errs less than twice what they
do is right, if nothing trivial and no answer 2 % too large errs as little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.errors import OpError
from opproof.core.verdicts import SYSTEMATIC, WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import ReplyTensor
from opproof.harness.check.judge.compare import WRONG_FACTOR, compare, explain_vacuity, find_misgiven_gradient
from opproof.harness.check.judge.judged_variant import JudgedVariant
from opproof.harness.check.triage.kinks import judge_again, places_of, replace_comparison
from opproof.harness.diagnose.precision import of_its_size
from opproof.harness.judge.array_statistics import measure_array
from opproof.harness.judge.bound import Comparison
from opproof.harness.judge.judgement import JudgedTensor, Judgement, make_passing_judgement
from opproof.harness.reference.array_bias import MIN_WHOLE_VALUES, fit_slope
from opproof.harness.reference.question import Expected
from opproof.harness.reference.roundoff import ONE_STORE_RMS
from opproof.harness.reference.torch.alternatives import widen_truth
from opproof.harness.reference.torch.arithmetic import Algorithm
from opproof.harness.reference.torch.evaluate import TorchQuestion, Truth, compute_truth, iter_true_noise
from opproof.reports import Result


def as_rounded(
    question: TorchQuestion, known: Truth, own: Callable[[Truth], Mapping[Any, Any]]
) -> tuple[TorchQuestion, Truth]:
    """The question and its truth, in float32 where outputs of float64, as float_power's, have inputs that are coarser.

    The reference may round before it widens. `own` judges its own answer: where that fails, a candidate need not pass.
    """
    kinds = [kind for kind in question.kinds if kind]
    if question.compute is not None or "f64" not in question.dtypes or not kinds or "f64" in kinds:
        return question, known
    if not any(judgement.verdict in WRONG for judgement in own(known).values()):
        return question, known
    rounded = replace(question, compute="f32")
    return rounded, compute_truth(rounded)


def allow_casts(one: JudgedVariant) -> JudgedVariant:
    """Judge with the noise of the reference's casts to 16 bits, where all is right by that: others may round there too.

    Who keeps float32 is judged by the sharper bound first, and passes by that.
    """
    casts, question = one.asked.reply.casts, one.question
    if not casts or question.casts or question.compute is not None or not one.fails:
        return one
    asked = replace(question, casts=casts)
    wider = widen_truth(asked, compute_truth(asked))
    found = one.judge(wider)
    if any(j.verdict is not Verdict.PASS for j in found.values()):
        return one
    one.once.cast.add(casts)
    return replace(one, question=asked, known=wider, judgements=found)


def pass_native_choices(one: JudgedVariant) -> JudgedVariant:
    """Pass integers that the reference itself has in the dtypes of the candidate.

    In float64 the smallest shares of a softmax are in order; in float32 they are 0 and equal, and another is the last.
    """
    wrong, outputs = one.judgements.get(Mode.FORWARD), one.asked.outputs
    if wrong is None or wrong.verdict not in WRONG or len(outputs) != len(wrong.tensors):
        return one
    again = [_pass_native_values(judged, own) for judged, own in zip(wrong.tensors, outputs, strict=True)]
    if all(a is b for a, b in zip(again, wrong.tensors, strict=True)):
        return one
    return one.with_changed({Mode.FORWARD: judge_again(wrong, again)})


def _pass_native_values(judged: JudgedTensor, own: ReplyTensor) -> JudgedTensor:
    whole = judged.expected.values.dtype.kind in "iub" and judged.got.shape == own.values.shape
    if judged.comparison.right or not whole:
        return judged
    return replace_comparison(judged, judged.comparison.with_waived(judged.got == own.values), "")


def describe_undeclared(one: JudgedVariant) -> dict[Mode, str]:
    """What to say of those that are wrong where a declared precision makes all of them right; else nothing.

    Many kernels keep shares, normed rows or a saved gradient in 16 bits, and some their sums. Not where every element
    is within its bound and the whole is wrong: a factor or truncation would be declared away.
    """
    question, judgements = one.question, one.judgements
    narrow = [k for k in question.results if k in ("f16", "bf16")]
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG]
    if question.compute is not None or not narrow or not wrong or any(_has_all_right(judgements[m]) for m in wrong):
        return {}
    sums = "its backward accumulates" if wrong == [Mode.GRADIENT] else "its sums are accumulated"
    cast = "" if one.asked.reply.casts else _CAST
    for declared, what, instead in (
        ("storage", f"it is within what rounding between its steps to {narrow[0]} makes", f"keep float32 there{cast}"),
        (narrow[0], f"{sums} in {narrow[0]}, or it is within what that makes", "keep float32 there"),
    ):
        asked = replace(question, compute=declared)
        found = one.judge(widen_truth(asked, compute_truth(asked)))
        if all(found[m].verdict in (Verdict.PASS, Verdict.VACUOUS) and of_its_size(found[m]) for m in wrong):
            said = f'{what}: declare that with compute="{declared}" (--compute {declared}), or {instead}'
            if any(found[m].verdict is Verdict.VACUOUS for m in wrong):
                said += "; little is proved by so wide a bound, and more by dtype f32"
            return dict.fromkeys(wrong, said)
    return {}


#: What else may be done where a reference has no cast: whose own casts a candidate may have as well.
_CAST = ", or write that cast in the reference too, as weight * h.to(dtype)"


def by_rule(results: Iterable[Result], judgements: Iterable[Judgement]) -> bool:
    """Whether a rule is named by which the candidate is wrong, a factor say: then rounding explains no variant."""
    of_the_whole = (j.figures for j in judgements if j.verdict in WRONG and _has_all_right(j))
    return any(r.patterns and r.patterns[0] in SYSTEMATIC for r in results) or any(
        f.factor is not None or f.slope for f in of_the_whole
    )


def _has_all_right(judgement: Judgement) -> bool:
    return bool(judgement.tensors) and all(bool(t.comparison.passed.all()) for t in judgement.tensors)


def judge_unsaved_outputs(one: JudgedVariant) -> JudgedVariant:
    """Pass a gradient that was VACUOUS where it passes by the bound of a backward that reads no outputs in 16 bits.

    A share exp(x - lse) by a logsumexp of 500 that was saved in bf16 is anything from 0 to 7 times what it should be:
    zeros are within that bound, and not within that of who keeps float32 between steps.
    """
    judged = one.judgements.get(Mode.GRADIENT)
    if one.fails or judged is None or judged.verdict is not Verdict.VACUOUS:
        return one
    if not {"f16", "bf16"} & {*one.question.dtypes}:
        return one
    again = one.judge_gradients(compute_truth(replace(one.question, saves=False)))
    return one.with_changed({Mode.GRADIENT: again}) if again.verdict is Verdict.PASS else one


#: Evaluations with roundings of their true size.
_TRUE_NOISE_RUNS = 4
#: So many times what honest implementations err is right.
_MAX_ERROR_RATIO = 2.0
#: Of the elements, those in which an honest answer leaves its bound, up to which the rest proves anything.
_MAX_LOST_SHARE = 1 / 16
#: What two implementations may part by, in units and in roundoffs, however well the honest ones do by chance.
_LEAST_UNITS = 0.25
_LEAST_SLOPE_ROUNDOFFS = 0.25
#: Who errs by much less has to be nearer: the gradient of one decay of many terms is off by 16 % in PyTorch's bfloat16.
_ERROR_RATIOS = (0.125, 0.5, _MAX_ERROR_RATIO)
#: What honest implementations err at most by is named, and an answer so much too large is not proved to be wrong.
_NAMED_FACTORS = (WRONG_FACTOR, 1.05, 1.1)


@dataclass(frozen=True)
class Figures:
    """Of an answer: the RMS of units, the largest of them, and the factor less 1 by which the whole is off."""

    rms: float
    most: float
    slope: float


@dataclass(frozen=True)
class HonestErrors:
    """Of one result: the most of all honest answers, by element where one of them leaves its bound."""

    figures: Figures
    lost: NDArray[np.bool_]  # where some leave it; figures are of all other elements
    off: NDArray[np.float64]  # the largest error there is, by element
    ratio: float = _MAX_ERROR_RATIO  # so many times these is right

    def sharpen(self, got: Array, expected: Expected, kind: str) -> HonestErrors | None:
        """The same with the least ratio by which an answer is allowed; None where it is by none."""
        some = (replace(self, ratio=ratio) for ratio in _ERROR_RATIOS)
        return next((one for one in some if one.allows(got, expected, kind)), None)

    def allows(self, got: Array, expected: Expected, kind: str) -> bool:
        """Whether an answer errs less than `ratio` times as much, whatever its bound allows."""
        comparison, off = compare(got, expected, kind), _measure_off(got, expected)
        wrong = ~comparison.passed
        if (wrong & ~self.lost).any() or (off[wrong] > self.ratio * self.off[wrong]).any():
            return False
        own, honest = _measure_figures(got, expected, comparison, ~self.lost), self.figures
        if np.count_nonzero(~self.lost) < MIN_WHOLE_VALUES:
            return own.most <= self.ratio * max(honest.most, _LEAST_UNITS)
        return (
            own.rms <= self.ratio * max(honest.rms, _LEAST_UNITS)
            and own.most <= self.ratio * max(honest.most, 1.0)
            and own.slope <= max(self.ratio * honest.slope, _LEAST_SLOPE_ROUNDOFFS * DTYPES[kind].u)
        )


def pass_by_honest_errors(one: JudgedVariant) -> JudgedVariant:
    """Pass what errs less than twice what honest implementations do, where stores are declared.

    Of what is VACUOUS, or wrong by its elements, by so little. Else it is named what would prove it.
    """
    if one.question.compute != "storage":
        return one
    open_ = [m for m, j in one.judgements.items() if _may_be_honest(j)]
    if not open_ or (Mode.GRADIENT in open_ and find_misgiven_gradient(one.asked, one.reply)):
        return one
    try:
        answers = list(_list_honest_answers(one))
    except (RuntimeError, OpError):  # with noise of its true size the reference takes other steps
        return one
    made = {m: _judge_by_honest_errors(one, m, answers) for m in open_}
    return one.with_changed({m: j for m, j in made.items() if j is not None})


def _may_be_honest(judgement: Judgement) -> bool:
    if judgement.verdict is Verdict.VACUOUS:
        return True
    tensors = judgement.tensors
    return judgement.verdict in WRONG and bool(tensors) and all(t.figures.is_stored_well for t in tensors)


def _list_honest_answers(one: JudgedVariant) -> Iterator[Sequence[Array | None]]:
    """Outputs and gradients by input of each honest implementation: PyTorch's own first."""
    own = one.asked.reply
    gradients = [None if d is None else d.values for d in own.gradients] or [None] * len(one.question.inputs)
    yield [*(y.values for y in one.asked.outputs), *gradients]
    for found in iter_true_noise(one.question, _TRUE_NOISE_RUNS, ONE_STORE_RMS, Algorithm.GIVEN):
        yield [_stored(y, kind) for y, kind in zip(found, one.question.results, strict=True)]


def _stored(y: Array | None, kind: str) -> Array | None:
    with np.errstate(all="ignore"):
        return np.asarray(round_to(y, DTYPES[kind])) if y is not None and kind else y


def _judge_by_honest_errors(
    one: JudgedVariant, mode: Mode, answers: Sequence[Sequence[Array | None]]
) -> Judgement | None:
    """PASS where all arrays err as little, or what would prove the one that is not; None where nothing follows."""
    places = places_of(one.known, one.question.needs, mode)
    found = [_make_judged(one, i) for i in places]
    kinds = [one.question.results[i] for i in places]
    honest = [
        _join_errors(j.expected, kind, [a[i] for a in answers]) for i, j, kind in zip(places, found, kinds, strict=True)
    ]
    if any(e is None and not j.comparison.right for j, e in zip(found, honest, strict=True)):
        return None
    each = zip(found, honest, kinds, strict=True)
    sharp = [e and e.sharpen(j.got, j.expected, kind) for j, e, kind in each]
    if any(e is not None and s is None for e, s in zip(honest, sharp, strict=True)):
        return _name_unproved(one.judgements[mode], found, kinds)
    return _judge_by_trivial_answers(one, mode, found, kinds, sharp)


def _judge_by_trivial_answers(
    one: JudgedVariant,
    mode: Mode,
    found: Sequence[JudgedTensor],
    kinds: Sequence[str],
    honest: Sequence[HonestErrors | None],
) -> Judgement | None:
    by_name = {j.name: e for j, e in zip(found, honest, strict=True)}
    given = [t.values for t in one.asked.request.tensors] + [g for g in one.asked.request.cotangents if g is not None]

    def errs_as_little(answer: Array, j: JudgedTensor, kind: str) -> bool:
        errors = by_name[j.name]
        got = _stored(answer, kind)
        assert got is not None
        return compare(got, j.expected, kind).right if errors is None else errors.allows(got, j.expected, kind)

    gradient = mode is Mode.GRADIENT
    for factor in _NAMED_FACTORS:
        doubt = explain_vacuity(found, kinds, given, gradient=gradient, passes=errs_as_little, factor=factor)
        if not doubt:
            said = "it errs less than twice what the reference does with the same stores, in PyTorch and by noise"
            more = "" if factor == WRONG_FACTOR else f"; what is {factor - 1:.0%} too large would not, what is 2 % may"
            right = [replace(j, comparison=j.comparison.with_waived(~j.comparison.passed)) for j in found]
            if all(e is None or e.lost.mean() <= _MAX_LOST_SHARE for e in honest):
                return replace(make_passing_judgement(right, []), message=f"{said}{more}")
    if one.judgements[mode].verdict in WRONG:
        return Judgement(Verdict.INCONCLUSIVE, _AS_WRONG)
    return _name_unproved(one.judgements[mode], found, kinds)


def _name_unproved(judgement: Judgement, found: Sequence[JudgedTensor], kinds: Sequence[str]) -> Judgement | None:
    """The judgement, with what else is right and what would prove the rest; None of what is not VACUOUS."""
    if judgement.verdict is not Verdict.VACUOUS or _WOULD_PROVE in judgement.message:
        return None
    proved = [
        j.name for j, kind in zip(found, kinds, strict=True) if not explain_vacuity([j], [kind], [], gradient=True)
    ]
    rest = f"; proved: {', '.join(proved)}" if proved else ""
    return replace(judgement, message=f"{judgement.message}{rest}; {_WOULD_PROVE}")


#: What is said of what stores leave open, and of what is wrong by no more than they make the reference.
_AS_WRONG = "the reference with the same stores errs as much: it is too sensitive here for a verdict"
_WOULD_PROVE = "sums kept in float32, or a check in f32, would prove more"


def _make_judged(one: JudgedVariant, place: int) -> JudgedTensor:
    """One result as it is judged; of a gradient that did not come, zeros."""
    count, kind = len(one.known.outputs), one.question.results[place] or "f32"
    if place < count:
        name, expected, came = one.asked.names[place], one.known.outputs[place], one.reply.outputs[place]
        got: Array = came.values
    else:
        e = one.known.gradients[place - count]
        assert e is not None
        d = one.reply.gradients[place - count]
        name, expected = one.asked.request.tensors[place - count].name, e
        got = np.zeros(e.values.shape) if d is None else d.values
    comparison = compare(got, expected, kind)
    return JudgedTensor(name, got, expected, comparison, measure_array(got, expected, comparison, kind), kind)


def _join_errors(expected: Expected, kind: str, answers: Sequence[Array | None]) -> HonestErrors | None:
    """The most of all honest implementations; None of what is exact."""
    if expected.exact or not kind:
        return None
    some = [a for a in answers if a is not None and a.shape == expected.values.shape]
    each = [(a, compare(a, expected, kind)) for a in some]
    lost = np.any([~c.passed for _, c in each], axis=0)
    off = np.max([_measure_off(a, expected) for a in some], axis=0)
    found = [_measure_figures(a, expected, c, ~lost) for a, c in each]
    return HonestErrors(Figures(*(max(getattr(f, n) for f in found) for n in ("rms", "most", "slope"))), lost, off)


def _measure_off(got: Array, expected: Expected) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.abs(np.asarray(got, dtype=np.float64) - expected.values), nan=np.inf)


def _measure_figures(got: Array, expected: Expected, comparison: Comparison, some: NDArray[np.bool_]) -> Figures:
    units = comparison.units[some]
    counts = np.isfinite(comparison.signed) & some
    values, scale = expected.values[counts], expected.scale[counts]
    rms = float(np.sqrt(np.mean(np.square(units)))) if units.size else 0.0
    slope = abs(fit_slope(np.asarray(got, dtype=np.float64)[counts] - values, values, scale)) if values.size else 0.0
    return Figures(rms, float(units.max(initial=0.0)), slope)
