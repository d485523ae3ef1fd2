"""One variant tried: the candidate asked three times, then the truth found, then one compared with the other.

`TRIAGE` says which step turns a failure into a pass, a decline or another message, in which order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from opproof.core.errors import BadInput, UsageError
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import Reply, are_alike, are_all_near
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.judge.compare import judge, judge_gradients
from opproof.harness.check.judge.faults import find_structural_error
from opproof.harness.check.judge.judged_variant import NOT_THESE, JudgedVariant, Step, TruthCache
from opproof.harness.check.judge.outcome import VariantResult, by_reference, is_marginal, make_untelling
from opproof.harness.check.judge.partial_gradients import (
    check_lost_gradients,
    fail_wrong_as_one,
    fail_wrong_part,
    find_partial_differences,
)
from opproof.harness.check.judge.stale_cache import mention_kept_input
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.tensors import CONTIGUOUS
from opproof.harness.check.triage.conditioning import judge_by_wider_truth
from opproof.harness.check.triage.kinks import decline_convention, pass_zeros
from opproof.harness.check.triage.precision import (
    allow_casts,
    as_rounded,
    describe_undeclared,
    judge_unsaved_outputs,
    pass_by_honest_errors,
    pass_native_choices,
)
from opproof.harness.check.triage.undefined_inputs import decline_untelling, share_memory_alike
from opproof.harness.check.variants.inputs import names_of
from opproof.harness.check.variants.variant import GIVEN, Variant
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.torch.arithmetic import OutOfTime

#: By which a candidate gives no answer at all.
_GONE = frozenset((Verdict.TIMEOUT, Verdict.CRASH))
#: Seconds of CPU that a variant may have taken in the judge if the same is to be found out for another precision too.
_MAX_BRIEF_SECONDS = 10.0
#: Of the seconds of a check what calls for parts of the gradients may take at one variant.
_PARTS_TIME_SHARE = 0.25
_STRIDES = "the strides of the gradient that comes in are not heeded: for a contiguous one it is right"
#: What a number beside tensors is multiplied by, until the reference's answer is another by such a share.
_OTHER_FACTORS = (2.0, 1e4)
_MIN_EFFECT_SHARE = 2.0**-10
_UNUSED = "{} of the reference has no effect on the candidate: it gives the same bits for {:g} as for {:g}"
_VARIES = "its bits may vary, as declared, but the same call gave a wrong answer another time"


def run_variant(
    reference: Reference, ask: CallFn, variant: Variant, wish: CheckOptions, once: TruthCache
) -> VariantResult:
    """Try one variant. Raises OpError where the reference uses what has no rule under noise."""
    start = time.process_time()
    both = _ask_reference_twice(reference, variant, wish, once)
    if isinstance(both, VariantResult):
        return both
    asked, other = both
    replies = call_three_times(ask, asked, None if wish.calls.skip_other_data() else other)
    asked, objected = _find_early_failure(reference, variant, asked, replies, wish)
    if objected is not None:
        return objected
    first = variant.name == GIVEN
    optional = variant.rest is not None and not variant.rare  # a derivative may be left out where an option has another
    between = first and not wish.reuses_outputs
    seconds = math.inf if wish.only else _PARTS_TIME_SHARE * wish.seconds
    parts = find_partial_differences(ask, asked, replies[1], seconds, alone=first or optional, between=between)
    question = asked.make_question(reference.outputs(asked.request), wish.compute)
    if once.cast:  # it rounds there: the sharper bound would only take time
        question = replace(question, casts=asked.reply.casts)
    try:
        known = once.truth(variant, asked, question, replies[1])
    except NOT_THESE as error:
        why = f"the reference in float64: {type(error).__name__}: {error}"
        if first:
            raise error if isinstance(error, BadInput) else UsageError(why) from error
        return VariantResult(variant, declined=why)
    question, known = as_rounded(question, known, lambda k: judge(asked, k, asked.reply))
    judgements = judge(asked, known, replies[1])
    sides = reference, ask, variant, wish, once
    return _apply_steps(JudgedVariant(*sides, asked, other, replies, parts, question, known, judgements), start)


def _ask_reference_twice(
    reference: Reference, variant: Variant, wish: CheckOptions, once: TruthCache
) -> tuple[ReferenceReply, ReferenceReply] | VariantResult:
    """Ask the reference about both draws, for values alone where tensors are one; the result where it declines one."""
    wish = replace(wish, gradients=False) if variant.one else wish
    asked = once.asked(reference, variant, variant.case_data, wish)
    other = asked if isinstance(asked, str) else once.asked(reference, variant, variant.decoy_data, wish)
    if isinstance(asked, str) or isinstance(other, str):
        return by_reference(variant, str(asked if isinstance(asked, str) else other))
    if not variant.one:
        return asked, other
    if asked.request.after:
        return by_reference(variant, "it updates what would be one tensor")
    asked, other = (replace(f, request=replace(f.request, one=variant.one)) for f in (asked, other))
    return asked, other


def call_three_times(ask: CallFn, asked: ReferenceReply, other: ReferenceReply | None) -> list[Reply]:
    """The replies to other data, to what is asked, and to the other data again; who hangs or ends is asked once.

    Where there is no time for the last it is as the first. Without other data both are empty. Raises OutOfTime.
    """
    if other is None:
        return [Reply(), ask(asked.request), Reply()]
    replies = [ask(other.request)]
    for f in (asked, other):
        gone = next((r for r in replies if r.error and r.cause in _GONE), None)
        try:
            replies.append(gone or ask(f.request))
        except OutOfTime:
            if f is asked:
                raise
            replies.append(replies[0])
    return replies


def _find_early_failure(
    reference: Reference, variant: Variant, asked: ReferenceReply, replies: Sequence[Reply], wish: CheckOptions
) -> tuple[ReferenceReply, VariantResult | None]:
    """What has to come, by the reference's own layout where its memory is shared; and what is wrong before values."""
    objection = find_structural_error(replies, asked, wish)
    laid = reference.call_native(asked.request) if objection is not None and variant.layout != CONTIGUOUS else Reply()
    if objection is not None and laid.outputs:
        asked = share_memory_alike(asked, laid)
        objection = find_structural_error(replies, asked, wish)
    if objection is None:
        return asked, None
    if laid.error and objection.verdict is Verdict.ERROR:
        return asked, by_reference(variant, laid.error)
    return asked, VariantResult(variant, asked, None, replies[1], {Mode.FORWARD: objection})


def _apply_steps(one: JudgedVariant, start: float) -> VariantResult:
    """Apply `TRIAGE` and what follows it, up to the first step that has a result. `start`: in seconds of CPU."""
    for step in TRIAGE:
        after = _take_step(step, one)
        if isinstance(after, VariantResult):
            return after
        one = after
    if one.fails:
        brief = time.process_time() - start < _MAX_BRIEF_SECONDS
        return one.with_stale(describe_undeclared(one) if brief else {})
    for step in CHECKS_OF_RIGHT:
        after = _take_step(step, one)
        if isinstance(after, VariantResult):
            return after
        one = after
    return one.with_stale()


def _take_step(step: Step, one: JudgedVariant) -> JudgedVariant | VariantResult:
    """What a step makes of a variant: nothing of the inputs as given where there is no time for its calls."""
    try:
        return step(one)
    except OutOfTime:
        if one.is_given:
            return one
        raise


def _fail_unheld_results(one: JudgedVariant) -> JudgedVariant:
    """Fail where an argument, declared to hold a result, holds other values than were returned."""
    forward, harm = one.judgements.get(Mode.FORWARD), one.reply.harm
    if forward is None or harm is None or harm.verdict is not Verdict.WRONG_VALUE:
        return one
    if forward.verdict not in FAILED:
        forward = Judgement(harm.verdict, "what is returned is right")
    text = "; ".join(filter(None, (harm.text, forward.message)))
    return one.with_changed({Mode.FORWARD: replace(forward, message=text)})


def _decline_marginal(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Decline what is wrong by little, before it is looked at again, which takes minutes of a scan."""
    return make_untelling(one.variant) if is_marginal(one.variant, one.judgements) else one


def _mention_strides(one: JudgedVariant) -> JudgedVariant:
    """Say of a wrong gradient that it is right for a contiguous cotangent."""
    wrong, request = one.judgements.get(Mode.GRADIENT), one.asked.request
    if wrong is None or wrong.verdict not in (Verdict.WRONG_GRADIENT, Verdict.ERROR) or request.layout == CONTIGUOUS:
        return one
    reply = one.ask(replace(request, layout=CONTIGUOUS))
    if reply.error or judge_gradients(one.asked, one.known, reply).verdict in (*WRONG, Verdict.ERROR):
        return one
    text = f"{wrong.message}: {_STRIDES}" if wrong.message else _STRIDES
    return one.with_changed({Mode.GRADIENT: replace(wrong, message=text)})


def _mention_unused_number(one: JudgedVariant) -> JudgedVariant:
    """Say of what is wrong as given which number beside tensors changes the reference's answer alone."""
    arguments = one.reference.form.with_rest(one.asked.request.rest).arguments
    names = list(arguments.keywords or names_of(one.reference.subject))
    floats = [(i, v) for i, v in enumerate(arguments.rest) if isinstance(v, float) and v]
    labels = arguments.labels(names) if floats and one.is_given and one.wish.bits is None else []
    wrong = {m: j for m, j in one.judgements.items() if j.verdict in WRONG}
    for (i, v), factor in product(floats if labels and wrong else (), _OTHER_FACTORS):
        rest = (*arguments.rest[:i], factor * v, *arguments.rest[i + 1 :])
        request = replace(one.asked.request.plain, rest=rest)
        other = one.reference.call_native(request)
        if other.error or are_all_near(other.outputs, one.asked.outputs, _MIN_EFFECT_SHARE):
            continue
        if are_alike(one.ask(request).outputs, one.reply.outputs):
            text = _UNUSED.format(labels[i], factor * v, v)
            return one.with_changed(
                {m: replace(j, message="; ".join(filter(None, (text, j.message)))) for m, j in wrong.items()}
            )
        return one
    return one


def _check_other_replies(one: JudgedVariant) -> JudgedVariant:
    """Judge another reply to the same request, where its bits may vary: it has to be right too."""
    if one.wish.bits is None or one.fails:
        return one
    again = one.ask(one.asked.request)
    replies = one.replies[0], again, one.replies[2]
    if (objection := find_structural_error(replies, one.asked, one.wish)) is not None:
        return replace(one, judgements={Mode.FORWARD: objection})
    later = judge_by_wider_truth(replace(one, replies=replies, judgements=judge(one.asked, one.known, again)))
    wrong = {m: j for m, j in later.judgements.items() if j.verdict in WRONG}
    return one.with_changed(
        {m: Judgement(Verdict.NOT_REPEATABLE, "; ".join(filter(None, (_VARIES, j.message)))) for m, j in wrong.items()}
    )


#: What turns a failure into a pass, a decline or another message, applied in this order.
TRIAGE: tuple[Step, ...] = (
    _decline_marginal,
    decline_convention,
    allow_casts,
    judge_by_wider_truth,
    pass_native_choices,
    pass_zeros,
    judge_unsaved_outputs,
    pass_by_honest_errors,
    decline_untelling,
    _mention_strides,
    _mention_unused_number,
    mention_kept_input,
    _fail_unheld_results,
)
#: What else is asked of a candidate whose answer is right, in this order.
CHECKS_OF_RIGHT: tuple[Step, ...] = (fail_wrong_part, fail_wrong_as_one, check_lost_gradients, _check_other_replies)
