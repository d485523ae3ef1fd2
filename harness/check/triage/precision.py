"""Failures that a coarser precision explains: one that the reference has by itself, or one that is to be declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from opproof.core.verdicts import SYSTEMATIC, WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import ReplyTensor
from opproof.harness.check.judge.judged_variant import JudgedVariant
from opproof.harness.check.triage.kinks import judge_again, replace_comparison
from opproof.harness.diagnose.precision import of_its_size
from opproof.harness.judge.judgement import JudgedTensor, Judgement
from opproof.harness.reference.torch.alternatives import widen_truth
from opproof.harness.reference.torch.evaluate import TorchQuestion, Truth, compute_truth
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
    """What to say of those that are wrong where the declaration `storage` makes all of them right; else nothing.

    Many kernels keep shares, normed rows or a saved gradient in 16 bits. Not where every element is within its bound
    and the whole is wrong: a factor or truncation would be declared away.
    """
    question, judgements = one.question, one.judgements
    narrow = [k for k in question.results if k in ("f16", "bf16")]
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG]
    if question.compute is not None or not narrow or not wrong or any(_has_all_right(judgements[m]) for m in wrong):
        return {}
    asked = replace(question, compute="storage")
    found = one.judge(widen_truth(asked, compute_truth(asked)))
    if not all(found[m].verdict in (Verdict.PASS, Verdict.VACUOUS) and of_its_size(found[m]) for m in wrong):
        return {}
    said = (
        f"it is within what rounding between its steps to {narrow[0]} makes: "
        'declare that with compute="storage" (--compute storage), or keep float32 there'
    )
    if any(found[m].verdict is Verdict.VACUOUS for m in wrong):
        said += "; little is proved by so wide a bound, and more by dtype f32"
    return dict.fromkeys(wrong, said)


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
