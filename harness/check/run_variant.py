"""One variant tried: the candidate asked three times, then the truth found, then one compared with the other.

`TRIAGE` says which step turns a failure into a pass, a decline or another message, in which order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from opproof.core.errors import BadInput, UsageError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import Reply, are_alike
from opproof.harness.check.call.reference import CallFn, Reference, list_kinds
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.judge.compare import fails, judge, judge_gradients, judge_outputs
from opproof.harness.check.judge.faults import find_structural_error
from opproof.harness.check.judge.outcome import (
    VariantResult,
    by_candidate,
    by_reference,
    is_marginal,
    make_untelling,
)
from opproof.harness.check.judge.partial_gradients import (
    PartialCall,
    as_one,
    find_lost_gradients,
    find_partial_differences,
    judge_as_one,
)
from opproof.harness.check.judge.partial_gradients import judge_parts as wrong_part
from opproof.harness.check.judge.stale_cache import find_kept_input
from opproof.harness.check.options import JudgingOptions
from opproof.harness.check.tensors import CONTIGUOUS, kind_of
from opproof.harness.check.triage.conditioning import judge_other_decisions, mark_ill_conditioned, mark_scalar_reads
from opproof.harness.check.triage.kinks import Convention, at_kinks, at_zeros, of_convention
from opproof.harness.check.triage.precision import (
    as_rounded,
    describe_undeclared,
    judge_unsaved_outputs,
    judge_with_casts,
    pass_native_choices,
)
from opproof.harness.check.triage.undefined_inputs import (
    explain_no_answer,
    explain_other_meaning,
    explain_unsettled,
    is_undefined,
    overflows,
    share_memory_alike,
)
from opproof.harness.check.truth_cache import TruthCache
from opproof.harness.check.variants.variant import GIVEN, Variant
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.torch.alternatives import widen_truth
from opproof.harness.reference.torch.evaluate import TorchQuestion, Truth, compute_truth

#: What PyTorch raises of sizes that a reference takes in its own dtype alone.
_NOT_THESE = (RuntimeError, ValueError, IndexError, ZeroDivisionError)
#: By which a candidate gives no answer at all.
_GONE = frozenset((Verdict.TIMEOUT, Verdict.CRASH))
#: Seconds of CPU that a variant may have taken in the judge if the same is to be found out for another precision too.
_MAX_BRIEF_SECONDS = 10.0


@dataclass(frozen=True)
class JudgedVariant:
    """A variant whose reply is judged, and what is made of its judgements from step to step."""

    reference: Reference
    ask: CallFn
    variant: Variant
    manner: JudgingOptions  # by which it is judged, and as it came: where tensors are one, gradients are asked apart
    usual: JudgingOptions
    once: TruthCache
    start: float  # of the variant, in seconds of CPU
    asked: ReferenceReply
    other: ReferenceReply
    replies: Sequence[Reply]  # to other data, to what is asked, and to the other data again
    some: Sequence[PartialCall]  # calls for a part of the gradients whose answers have other bits
    question: TorchQuestion
    known: Truth
    judgements: dict[Mode, Judgement]

    @property
    def reply(self) -> Reply:
        """The one that is judged."""
        return self.replies[1]

    @property
    def is_given(self) -> bool:
        """Whether these are the inputs as they came."""
        return self.variant.name == GIVEN

    def judge(self, known: Truth) -> dict[Mode, Judgement]:
        """Judge the reply by another truth."""
        return judge(self.asked, known, self.reply)

    def judge_gradients(self, known: Truth) -> Judgement:
        """Judge the gradients alone by another truth."""
        return judge_gradients(self.asked, known, self.reply)

    def with_judgements(self, judgements: dict[Mode, Judgement]) -> JudgedVariant:
        """Replace the judgements."""
        return replace(self, judgements=judgements)

    def with_stale(self, advice: Mapping[Mode, str] | None = None) -> VariantResult:
        """Make the result, which says whether the reply is the one to the call before."""
        judgements = _with_stale(self.judgements, self.replies)
        return VariantResult(self.variant, self.asked, self.known, self.reply, judgements, advice=advice or {})

    def with_failure(self, mode: Mode, judgement: Judgement, reply: Reply) -> VariantResult:
        """Make the result of which one mode is wrong, by a reply."""
        return VariantResult(self.variant, self.asked, self.known, reply, {**self.judgements, mode: judgement})


#: What becomes of a judged variant: the same with other judgements, or the result, after which no step follows.
Step = Callable[[JudgedVariant], "JudgedVariant | VariantResult"]


def run_variant(
    reference: Reference, ask: CallFn, variant: Variant, manner: JudgingOptions, once: TruthCache
) -> VariantResult:
    """Try one variant. Raises OpError where the reference uses what has no rule under noise."""
    start = time.process_time()
    usual = manner
    if variant.one:  # of values; the gradients of what is one are asked for by themselves
        manner = replace(manner, gradients=False)
    both = _ask_reference_twice(reference, variant, manner, once)
    if isinstance(both, VariantResult):
        return both
    asked, other = both
    replies = _call_three_times(ask, asked, other)
    asked, objected = _find_early_failure(reference, variant, asked, replies, manner)
    if objected is not None:
        return objected
    reply = replies[1]
    first = variant.name == GIVEN
    optional = variant.rest is not None and not variant.rare  # a derivative may be left out where an option has another
    some = find_partial_differences(
        ask, asked, reply, alone=first or optional, between=first and not manner.reuses_outputs
    )
    question = _make_question(reference, asked, manner)
    if once.cast:  # it rounds there: the sharper bound would only take time
        question = replace(question, casts=asked.reply.casts)
    try:
        known = once.truth(variant, asked, question, lambda k: judge(asked, k, reply))
    except _NOT_THESE as error:
        why = f"the reference in float64: {type(error).__name__}: {error}"
        if first:
            raise error if isinstance(error, BadInput) else UsageError(why) from error
        return VariantResult(variant, declined=why)
    question, known = as_rounded(question, known, lambda k: judge(asked, k, asked.reply))
    judgements = judge(asked, known, reply)
    sides = reference, ask, variant, manner, usual, once, start
    return _apply_steps(JudgedVariant(*sides, asked, other, replies, some, question, known, judgements))


def _ask_reference_twice(
    reference: Reference, variant: Variant, manner: JudgingOptions, once: TruthCache
) -> tuple[ReferenceReply, ReferenceReply] | VariantResult:
    """What the reference makes of what is asked and of the other data; the result where it declines one."""
    asked = once.asked(reference, variant, variant.case_data, manner)
    other = asked if isinstance(asked, str) else once.asked(reference, variant, variant.decoy_data, manner)
    if isinstance(asked, str) or isinstance(other, str):
        return by_reference(variant, str(asked if isinstance(asked, str) else other))
    if not variant.one:
        return asked, other
    if asked.request.after:
        return by_reference(variant, "it updates what would be one tensor")
    asked, other = (replace(f, request=replace(f.request, one=variant.one)) for f in (asked, other))
    return asked, other


def _apply_steps(one: JudgedVariant) -> VariantResult:
    """Apply `TRIAGE` and what follows it, up to the first step that has a result."""
    for step in (*TRIAGE, _fail_wrong, *CHECKS_OF_RIGHT):
        after = step(one)
        if isinstance(after, VariantResult):
            return after
        one = after
    return one.with_stale()


# Steps of triage: what turns a failure into a pass, a decline or another message.


def _decline_marginal(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Decline what is wrong by little, before it is looked at again, which takes minutes of a scan."""
    return make_untelling(one.variant) if is_marginal(one.variant, one.judgements) else one


def _decline_convention(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Decline an answer by a convention of the candidate's own."""
    said = of_convention(one.variant, one.judgements)
    if not said:
        return one
    return make_untelling(one.variant) if said is Convention.NOTHING else by_candidate(one.variant, said, news=True)


def _allow_casts(one: JudgedVariant) -> JudgedVariant:
    """Judge by the casts of the reference, where the answer is right by them."""
    wider = judge_with_casts(one.question, one.asked.reply.casts, one.judgements, one.judge)
    if wider is None:
        return one
    question, known, judgements = wider
    one.once.cast.add(question.casts)
    return replace(one, question=question, known=known, judgements=judgements)


def _widen_truth(one: JudgedVariant) -> JudgedVariant:
    """Judge by a wider truth, where that alone may make the answer right."""
    known, judgements = _decide_judgements(one.question, one.asked, one.known, one.reply, one.judgements)
    return replace(one, known=known, judgements=judgements)


def _pass_choices(one: JudgedVariant) -> JudgedVariant:
    """Pass what PyTorch itself chooses among answers that are as good."""
    return one.with_judgements(pass_native_choices(one.asked.outputs, one.judgements))


def _pass_zeros(one: JudgedVariant) -> JudgedVariant:
    """Pass another derivative at zeros."""
    request = one.asked.request
    return one.with_judgements(at_zeros(one.variant, request.tensors, request.cotangents, one.judgements, one.reply))


def _judge_unsaved(one: JudgedVariant) -> JudgedVariant:
    """Judge gradients by outputs that are not rounded, where nothing is wrong so far."""
    if fails(one.judgements):
        return one
    return one.with_judgements(judge_unsaved_outputs(one.question, one.judgements, one.judge_gradients))


def _decline_untelling(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Decline a variant at which what is wrong says nothing of the candidate."""
    doubted = _decline_doubtful(one.reference, one.variant, one.asked, one.question, one.known, one.judgements)
    return one if doubted is None else doubted


def _mention_strides(one: JudgedVariant) -> JudgedVariant:
    """Say of a wrong gradient that it is right for a contiguous cotangent."""
    return one.with_judgements(_of_strides(one.ask, one.asked, one.known, one.judgements))


def _mention_kept_input(one: JudgedVariant) -> JudgedVariant:
    """Say of a wrong output that it is of an input kept from another call."""
    if one.judgements[Mode.FORWARD].verdict not in WRONG:
        return one
    text = find_kept_input(one.reference, one.asked, one.other, one.replies)
    if not text:
        return one
    return one.with_judgements({m: replace(j, message=j.message or text) for m, j in one.judgements.items()})


def _fail_wrong(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """End with what is wrong after triage, and what to declare where rounding explains it."""
    if not fails(one.judgements):
        return one
    brief = time.process_time() - one.start < _MAX_BRIEF_SECONDS
    return one.with_stale(describe_undeclared(one.question, one.judgements, one.judge) if brief else {})


# Steps after it: what else is asked of a candidate whose answer is right.


def _fail_wrong_part(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Fail where a part of the gradients is wrong when it alone is asked for."""
    part = wrong_part(
        one.some,
        lambda p: judge_outputs(p.asked, one.known, p.reply),
        lambda p: judge_gradients(p.asked, one.known, p.reply),
    )
    return one if part is None else one.with_failure(part[0].mode, part[1], part[0].reply)


def _fail_wrong_as_one(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Fail where gradients of tensors that are one object are wrong."""
    if not one.variant.one:
        return one
    wrong = _judge_as_one(one.reference, one.ask, one.variant, one.usual, one.once)
    return one if wrong is None else one.with_failure(Mode.GRADIENT, wrong, one.reply)


def _check_lost_gradients(one: JudgedVariant) -> JudgedVariant:
    """Judge the gradients that are lost where each is asked for alone, of the inputs as given."""
    if not (one.is_given and all(y.differentiable for y in one.reply.outputs)):
        return one
    alone = find_lost_gradients(one.reference, one.ask, one.asked)
    return one if alone is None else one.with_judgements({**one.judgements, Mode.GRADIENT: alone})


def _check_other_replies(one: JudgedVariant) -> JudgedVariant:
    """Judge another reply to the same request, where its bits may vary."""
    if one.manner.bits is None or fails(one.judgements):
        return one
    return one.with_judgements(
        _judge_other_replies(one.ask, one.question, one.asked, one.known, one.judgements, one.replies, one.manner)
    )


#: What turns a failure into a pass, a decline or another message, applied in this order.
TRIAGE: tuple[Step, ...] = (
    _decline_marginal,
    _decline_convention,
    _allow_casts,
    _widen_truth,
    _pass_choices,
    _pass_zeros,
    _judge_unsaved,
    _decline_untelling,
    _mention_strides,
    _mention_kept_input,
)
#: What else is asked of a candidate whose answer is right, in this order.
CHECKS_OF_RIGHT: tuple[Step, ...] = (
    _fail_wrong_part,
    _fail_wrong_as_one,
    _check_lost_gradients,
    _check_other_replies,
)


def _judge_as_one(
    reference: Reference, ask: CallFn, variant: Variant, manner: JudgingOptions, once: TruthCache
) -> Judgement | None:
    """What is wrong with the gradients of tensors that are one."""
    asked = once.asked(reference, variant, variant.case_data, manner)
    if isinstance(asked, str) or not asked.request.cotangents:
        return None
    question = _make_question(reference, asked, manner)
    try:
        known = compute_truth(question)
    except _NOT_THESE:
        return None
    wrong = judge_as_one(ask, asked, known, variant.one)
    if wrong is None or wrong.verdict is not Verdict.ERROR:
        return wrong
    own = reference.call_native(as_one(asked.request, variant.one))
    return None if own.error or own.failed else wrong


def _call_three_times(ask: CallFn, asked: ReferenceReply, decoy: ReferenceReply) -> list[Reply]:
    """The replies to other data, to what is asked, and to the other data again; who hangs or ends is asked once."""
    replies = list[Reply]()
    for f in (decoy, asked, decoy):
        gone = next((r for r in replies if r.error and r.cause in _GONE), None)
        replies.append(gone or ask(f.request))
    return replies


def _find_early_failure(
    reference: Reference, variant: Variant, asked: ReferenceReply, replies: Sequence[Reply], manner: JudgingOptions
) -> tuple[ReferenceReply, VariantResult | None]:
    """What has to come, by the reference's own layout where its memory is shared; and what is wrong before values."""
    objection = find_structural_error(replies, asked, manner)
    laid = reference.call_native(asked.request) if objection is not None and variant.layout != CONTIGUOUS else Reply()
    if objection is not None and laid.outputs:
        asked = share_memory_alike(asked, laid)
        objection = find_structural_error(replies, asked, manner)
    if objection is None:
        return asked, None
    if laid.error and objection.verdict is Verdict.ERROR:
        return asked, by_reference(variant, laid.error)
    return asked, VariantResult(variant, asked, None, replies[1], {Mode.FORWARD: objection})


def _decline_doubtful(
    reference: Reference, variant: Variant, asked: ReferenceReply, question: TorchQuestion, known: Truth,
    judgements: Mapping[Mode, Judgement],
) -> VariantResult | None:  # fmt: skip
    """A variant at which what is wrong says nothing of the candidate; None where it does, or nothing is."""
    neighbour = variant.name != GIVEN
    if neighbour and (why := explain_no_answer(known, judgements, lambda: judge(asked, known, asked.reply))):
        return by_reference(variant, why)
    if neighbour and fails(judgements) and overflows(reference, asked, known, judgements):
        return by_reference(variant, "it overflows in float32 itself")
    if why := explain_unsettled(question, variant, known, judgements):
        return by_candidate(variant, why)
    if neighbour and fails(judgements) and is_undefined(asked, known, judgements):
        return by_reference(variant, "NaN in float64 itself")
    why = _in_layout(reference, variant, asked, judgements)
    return by_reference(variant, why) if why else None


def _decide_judgements(
    question: TorchQuestion, asked: ReferenceReply, known: Truth, reply: Reply, judgements: dict[Mode, Judgement]
) -> tuple[Truth, dict[Mode, Judgement]]:
    """What becomes of a judged reply, with the truth that it is judged by: wider where that alone may make it right."""
    if not fails(judgements):
        return known, judgements
    try:
        known = widen_truth(question, known)
    except RuntimeError:  # PyTorch's backward takes other steps under noise: by the reference's own formula alone then
        return known, judgements
    judgements = judge_other_decisions(question, known, at_kinks(question, judge(asked, known, reply)))
    return known, mark_scalar_reads(question, known, mark_ill_conditioned(question, known, judgements))


def _judge_other_replies(
    ask: CallFn, question: TorchQuestion, asked: ReferenceReply, known: Truth, judgements: dict[Mode, Judgement],
    replies: Sequence[Reply], manner: JudgingOptions,
) -> dict[Mode, Judgement]:  # fmt: skip
    """The judgements where another reply to the same request is right too, its bits may vary; else what is wrong."""
    again = ask(asked.request)
    if (objection := find_structural_error((replies[0], again, replies[2]), asked, manner)) is not None:
        return {Mode.FORWARD: objection}
    _, later = _decide_judgements(question, asked, known, again, judge(asked, known, again))
    said = "its bits may vary, as declared, but the same call gave a wrong answer another time"
    wrong = {
        m: Judgement(Verdict.NOT_REPEATABLE, "; ".join(filter(None, (said, j.message))))
        for m, j in later.items()
        if j.verdict in WRONG
    }
    return {**judgements, **wrong}


def _make_question(reference: Reference, asked: ReferenceReply, manner: JudgingOptions) -> TorchQuestion:
    request = asked.request
    return TorchQuestion(
        reference.outputs(request),
        tuple(t.values for t in request.tensors),
        request.needs or (False,) * len(request.tensors),
        tuple(kind_of(y.dtype) for y in asked.outputs),
        list_kinds(request.tensors),
        request.cotangents,
        manner.compute,
        request.seed,
        asked.reply.draws,
    )


def _of_strides(
    ask: CallFn, asked: ReferenceReply, known: Truth, judgements: dict[Mode, Judgement]
) -> dict[Mode, Judgement]:
    """The judgements; a gradient that is wrong says so where it is right for a contiguous cotangent."""
    wrong = judgements.get(Mode.GRADIENT)
    request = asked.request
    if wrong is None or wrong.verdict not in (Verdict.WRONG_GRADIENT, Verdict.ERROR) or request.layout == CONTIGUOUS:
        return judgements
    reply = ask(replace(request, layout=CONTIGUOUS))
    if reply.error or judge_gradients(asked, known, reply).verdict in (*WRONG, Verdict.ERROR):
        return judgements
    text = "the strides of the gradient that comes in are not heeded: for a contiguous one it is right"
    return {**judgements, Mode.GRADIENT: replace(wrong, message=f"{wrong.message}: {text}" if wrong.message else text)}


def _in_layout(
    reference: Reference, variant: Variant, asked: ReferenceReply, judgements: Mapping[Mode, Judgement]
) -> str:
    """Why what is wrong in a layout says nothing of the candidate; empty where it does, or nothing is."""
    raised = any(j.verdict is Verdict.ERROR for j in judgements.values())
    if variant.layout == CONTIGUOUS or not (raised or fails(judgements)):
        return ""
    return explain_other_meaning(asked, reference.call_native(asked.request), raised=raised)


def _with_stale(judgements: Mapping[Mode, Judgement], replies: Sequence[Reply]) -> dict[Mode, Judgement]:
    """The judgements, which say whether the judged call answered exactly what the call before it did."""
    stale = bool(replies[1].outputs) and are_alike(replies[0].outputs, replies[1].outputs)
    return {m: replace(j, stale=stale) if j.tensors else j for m, j in judgements.items()}
