"""Outputs in float64 of inputs that are coarser, as float_power's: the reference may round before it widens.

Where its own answer is not within the bound of float64, a candidate that does as it does must not be either.

Where a reference rounds to 16 bits on its way by a cast of its own, a candidate may round there as well.

Eager code casts the shares of a softmax to bfloat16 for the product with the values, and a weight that it unpacks.
Who keeps float32 is judged by the sharper bound first: it passes by that.

Integers that are wrong by the truth, and that the reference itself has in the dtypes of the candidate: right.

In float64 the smallest shares of a softmax are in order; in float32 they are 0 and equal, and another one is the last.

A precision that was not declared: a 16-bit candidate that passes if what lies between its steps is rounded too.

Kernels that keep shares, normed rows or a saved gradient in 16 bits are many; who meets one is told what to say.

Gradients that prove nothing if outputs are saved in 16 bits, by the bound of a backward that reads none.

A share exp(x - lse) by a logsumexp of 500 that was saved in bf16 is anything from 0 to 7 times what it should be, and
zeros are within the bound; by the bound of who keeps in float32 what lies between they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from opproof.core.verdicts import SYSTEMATIC, WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import ReplyTensor
from opproof.harness.check.judge.compare import fails
from opproof.harness.check.triage.kinks import judge_again, replace_comparison
from opproof.harness.diagnose.precision import of_its_size
from opproof.harness.judge.judgement import JudgedTensor, Judgement
from opproof.harness.reference.torch.alternatives import widen_truth
from opproof.harness.reference.torch.dtype_leaks import Casts
from opproof.harness.reference.torch.evaluate import TorchQuestion, Truth, compute_truth
from opproof.reports import Result


def as_rounded(
    question: TorchQuestion, known: Truth, own: Callable[[Truth], Mapping[Any, Any]]
) -> tuple[TorchQuestion, Truth]:
    """The question and its truth; `own` judges the reference's own answer, and what fails is asked in float32."""
    kinds = [kind for kind in question.kinds if kind]
    if question.compute is not None or "f64" not in question.dtypes or not kinds or "f64" in kinds:
        return question, known
    if not any(judgement.verdict in WRONG for judgement in own(known).values()):
        return question, known
    rounded = replace(question, compute="f32")
    return rounded, compute_truth(rounded)


def judge_with_casts(
    question: TorchQuestion,
    casts: Casts,
    judgements: Mapping[Mode, Judgement],
    judged: Callable[[Truth], dict[Mode, Judgement]],
) -> tuple[TorchQuestion, Truth, dict[Mode, Judgement]] | None:
    """What to ask, what is true and what to say with the noise of `casts`, where all is right by that."""
    if not casts or question.casts or question.compute is not None or not fails(judgements):
        return None
    asked = replace(question, casts=casts)
    wider = widen_truth(asked, compute_truth(asked))
    found = judged(wider)
    return (asked, wider, found) if all(j.verdict is Verdict.PASS for j in found.values()) else None


def pass_native_choices(outputs: Sequence[ReplyTensor], judgements: Mapping[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; `outputs` are the reference's own in the dtypes that were asked."""
    wrong = judgements.get(Mode.FORWARD)
    if wrong is None or wrong.verdict not in WRONG or len(outputs) != len(wrong.tensors):
        return dict(judgements)
    again = [_pass_native_values(judged, own) for judged, own in zip(wrong.tensors, outputs, strict=True)]
    if all(a is b for a, b in zip(again, wrong.tensors, strict=True)):
        return dict(judgements)
    return {**judgements, Mode.FORWARD: judge_again(wrong, again)}


def _pass_native_values(judged: JudgedTensor, own: ReplyTensor) -> JudgedTensor:
    whole = judged.expected.values.dtype.kind in "iub" and judged.got.shape == own.values.shape
    if judged.comparison.right or not whole:
        return judged
    return replace_comparison(judged, judged.comparison.with_waived(judged.got == own.values), "")


def describe_undeclared(
    question: TorchQuestion, judgements: Mapping[Mode, Judgement], judged: Callable[[Truth], Mapping[Mode, Judgement]]
) -> dict[Mode, str]:
    """What to say of those that are wrong where the declaration `storage` makes all of them right; else nothing.

    Not where every element is within its bound and the whole is wrong: a factor or truncation would be declared away.
    """
    narrow = [k for k in question.results if k in ("f16", "bf16")]
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG]
    if question.compute is not None or not narrow or not wrong or any(_has_all_right(judgements[m]) for m in wrong):
        return {}
    asked = replace(question, compute="storage")
    found = judged(widen_truth(asked, compute_truth(asked)))
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


def judge_unsaved_outputs(
    question: TorchQuestion, judgements: Mapping[Mode, Judgement], judge: Callable[[Truth], Judgement]
) -> dict[Mode, Judgement]:
    """The judgements; a gradient that was VACUOUS passes where `judge` passes it by the narrower bound."""
    found = dict(judgements)
    doubted = Mode.GRADIENT in found and found[Mode.GRADIENT].verdict is Verdict.VACUOUS
    if doubted and any(kind in ("f16", "bf16") for kind in question.dtypes):
        again = judge(compute_truth(replace(question, saves=False)))
        if again.verdict is Verdict.PASS:
            found[Mode.GRADIENT] = again
    return found
