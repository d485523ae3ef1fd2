"""One variant tried: the candidate asked three times, then the truth found, then one compared with the other.

What a reference makes of inputs, found out once: in other layouts they hold the same, and so does its answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opproof.core.dtypes import DTYPES
from opproof.core.errors import BadInput, UsageError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import Reply, are_alike
from opproof.harness.check.call.reference import CallFn, Reference, list_kinds
from opproof.harness.check.call.reference_reply import ReferenceReply, ask_reference
from opproof.harness.check.judge.compare import fails, judge, judge_gradients, judge_outputs
from opproof.harness.check.judge.faults import find_structural_error
from opproof.harness.check.judge.outcome import (
    FLOAT32_DIGITS,
    VariantResult,
    by_candidate,
    by_reference,
    is_marginal,
    make_untelling,
)
from opproof.harness.check.judge.partial_gradients import (
    as_one,
    find_lost_gradients,
    find_partial_differences,
    judge_as_one,
)
from opproof.harness.check.judge.partial_gradients import judge_parts as wrong_part
from opproof.harness.check.judge.stale_cache import find_kept_input
from opproof.harness.check.options import JudgingOptions
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor, kind_of
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
from opproof.harness.check.variants.variant import GIVEN, Variant
from opproof.harness.clock import Allowed, Clock
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.roundoff import RUNS
from opproof.harness.reference.torch.alternatives import widen_truth
from opproof.harness.reference.torch.dtype_leaks import Casts
from opproof.harness.reference.torch.evaluate import TorchQuestion, Truth, compute_truth

#: What PyTorch raises of sizes that a reference takes in its own dtype alone.
_NOT_THESE = (RuntimeError, ValueError, IndexError, ZeroDivisionError)
#: By which a candidate gives no answer at all.
_GONE = frozenset((Verdict.TIMEOUT, Verdict.CRASH))
#: Seconds of CPU that a variant may have taken in the judge if the same is to be found out for another precision too.
_MAX_BRIEF_SECONDS = 10.0


def run_variant(
    reference: Reference, ask: CallFn, variant: Variant, manner: JudgingOptions, once: TruthCache
) -> VariantResult:
    """Try one variant. Raises OpError where the reference uses what has no rule under noise."""
    start = time.process_time()
    usual = manner
    if variant.one:  # of values; the gradients of what is one are asked for by themselves
        manner = replace(manner, gradients=False)
    asked = once.asked(reference, variant, variant.asked, manner)
    other = asked if isinstance(asked, str) else once.asked(reference, variant, variant.other, manner)
    if isinstance(asked, str) or isinstance(other, str):
        return by_reference(variant, str(asked if isinstance(asked, str) else other))
    if variant.one:
        if asked.request.after:
            return by_reference(variant, "it updates what would be one tensor")
        asked, other = (replace(f, request=replace(f.request, one=variant.one)) for f in (asked, other))
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
    if is_marginal(variant, judgements):  # before it is looked at again, which takes minutes of a scan
        return make_untelling(variant)
    if said := of_convention(variant, judgements):
        return make_untelling(variant) if said is Convention.NOTHING else by_candidate(variant, said, news=True)
    wider = judge_with_casts(question, asked.reply.casts, judgements, lambda k: judge(asked, k, reply))
    if wider is not None:
        question, known, judgements = wider
        once.cast.add(question.casts)
    known, judgements = _decide_judgements(question, asked, known, reply, judgements)
    judgements = pass_native_choices(asked.outputs, judgements)
    judgements = at_zeros(variant, asked.request.tensors, asked.request.cotangents, judgements, reply)
    if not fails(judgements):
        judgements = judge_unsaved_outputs(question, judgements, lambda narrow: judge_gradients(asked, narrow, reply))
    if (doubted := _decline_doubtful(reference, variant, asked, question, known, judgements)) is not None:
        return doubted
    judgements = _of_strides(ask, asked, known, judgements)
    if judgements[Mode.FORWARD].verdict in WRONG and (text := find_kept_input(reference, asked, other, replies)):
        judgements = {m: replace(j, message=j.message or text) for m, j in judgements.items()}
    if fails(judgements):
        brief = time.process_time() - start < _MAX_BRIEF_SECONDS
        advice = describe_undeclared(question, judgements, lambda k: judge(asked, k, reply)) if brief else {}
        return VariantResult(variant, asked, known, reply, _with_stale(judgements, replies), advice=advice)
    part = wrong_part(
        some, lambda p: judge_outputs(p.asked, known, p.reply), lambda p: judge_gradients(p.asked, known, p.reply)
    )
    if part is not None:
        return VariantResult(variant, asked, known, part[0].reply, {**judgements, part[0].mode: part[1]})
    if variant.one and (wrong := _judge_as_one(reference, ask, variant, usual, once)) is not None:
        return VariantResult(variant, asked, known, reply, {**judgements, Mode.GRADIENT: wrong})
    if first and all(y.differentiable for y in reply.outputs):
        alone = find_lost_gradients(reference, ask, asked)
        judgements = judgements if alone is None else {**judgements, Mode.GRADIENT: alone}
    if manner.bits is not None and not fails(judgements):
        judgements = _judge_other_replies(ask, question, asked, known, judgements, replies, manner)
    return VariantResult(variant, asked, known, reply, _with_stale(judgements, replies))


def _judge_as_one(
    reference: Reference, ask: CallFn, variant: Variant, manner: JudgingOptions, once: TruthCache
) -> Judgement | None:
    """What is wrong with the gradients of tensors that are one."""
    asked = once.asked(reference, variant, variant.asked, manner)
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
    own = reference.native(as_one(asked.request, variant.one))
    return None if own.error or own.failed else wrong


def _call_three_times(ask: CallFn, asked: ReferenceReply, other: ReferenceReply) -> list[Reply]:
    """The replies to other data, to what is asked, and to the other data again; who hangs or ends is asked once."""
    replies = list[Reply]()
    for f in (other, asked, other):
        gone = next((r for r in replies if r.error and r.cause in _GONE), None)
        replies.append(gone or ask(f.request))
    return replies


def _find_early_failure(
    reference: Reference, variant: Variant, asked: ReferenceReply, replies: Sequence[Reply], manner: JudgingOptions
) -> tuple[ReferenceReply, VariantResult | None]:
    """What has to come, by the reference's own layout where its memory is shared; and what is wrong before values."""
    objection = find_structural_error(replies, asked, manner)
    laid = reference.native(asked.request) if objection is not None and variant.layout != CONTIGUOUS else Reply()
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
    return explain_other_meaning(asked, reference.native(asked.request), raised=raised)


def _with_stale(judgements: Mapping[Mode, Judgement], replies: Sequence[Reply]) -> dict[Mode, Judgement]:
    """The judgements, which say whether the judged call answered exactly what the call before it did."""
    stale = bool(replies[1].outputs) and are_alike(replies[0].outputs, replies[1].outputs)
    return {m: replace(j, stale=stale) if j.tensors else j for m, j in judgements.items()}


#: By the arrays that tensors hold, which are the same objects in every layout.
_Key = tuple[int, ...]
#: Layouts in which a tensor holds other values, or its cotangent does.
_STRETCHED = "broadcast"
#: Runs of noise at which what inputs seldom have is judged first: a bound from so few is half or twice as wide.
_QUICK_NOISE_RUNS = 4


@dataclass
class TruthCache:
    """What is known of the inputs of one check, in the layout given; `tensors` keeps their arrays alive.

    `until`: no truth but that of the inputs as given is worked out beyond it.
    """

    until: Allowed

    facts: dict[_Key, ReferenceReply] = field(default_factory=dict)
    truths: dict[_Key, Truth] = field(default_factory=dict)
    tensors: list[tuple[CallTensor, ...]] = field(default_factory=list)
    cast: set[Casts] = field(default_factory=set)  # casts of the reference's by which an answer was right

    def asked(
        self, reference: Reference, variant: Variant, tensors: tuple[CallTensor, ...], manner: JudgingOptions
    ) -> ReferenceReply | str:
        """See `facts`, for one of a variant's two sets of tensors."""
        layout = next((t.layout for t in tensors if t.layout != CONTIGUOUS), CONTIGUOUS)
        known = self.facts.get(_make_key(tensors)) if variant.rest is None and layout != _STRETCHED else None
        if known is not None:
            request = replace(known.request, tensors=tensors, layout=layout if known.request.cotangents else CONTIGUOUS)
            return replace(known, request=request)
        new = ask_reference(reference, tensors, manner.seed, manner.gradients, variant.rest)
        if _is_plain(variant) and layout == CONTIGUOUS and not isinstance(new, str) and not new.reply.draws:
            self.facts[_make_key(tensors)] = new
            self.tensors.append(tensors)
        return new

    def truth(
        self,
        variant: Variant,
        asked: ReferenceReply,
        question: TorchQuestion,
        judged: Callable[[Truth], dict[Mode, Judgement]],
    ) -> Truth:
        """See `truth`. Where values or sizes are rare a quick one suffices for an answer that is right, or nearly.

        Raises OutOfTime.
        """
        left = Allowed(self.until.left, Clock(alone=True))  # the candidate rests meanwhile
        timed = question if variant.name == GIVEN else replace(question, late=lambda: left.over)
        key = _make_key(asked.request.tensors)
        plain = _is_plain(variant) and asked.request.layout != _STRETCHED and key in self.facts
        if plain and key in self.truths:
            return self.truths[key]
        if variant.rare and all(DTYPES[k].digits >= FLOAT32_DIGITS for k in question.results if k):
            quick = compute_truth(timed, _QUICK_NOISE_RUNS)
            judgements = judged(quick)
            if not fails(judgements) or is_marginal(variant, judgements):
                return quick
        known = compute_truth(timed, RUNS)
        if plain:
            self.truths[key] = known
        return known


def _is_plain(variant: Variant) -> bool:
    """Whether its values and its other arguments are those given, which later variants may have too."""
    return variant.fill == "normal" and not variant.rare and variant.rest is None


def _make_key(tensors: tuple[CallTensor, ...]) -> _Key:
    return tuple(id(t.values) for t in tensors)
