"""What is asked last, once all is right: the same again, in other ways of calling, beside what nobody may touch.

What was right asked again under other circumstances: between memory that nobody may touch, and in other settings.

A last tile that is stored without a mask writes past its tensor at ragged sizes alone, so these are asked too.

The given inputs as inference has them, with no gradient asked for: a kernel may take another path there.

Two calls without a new seed: who draws the same random numbers in both, as a mask that is kept, does not draw.

The given inputs asked again and again, once all is right: a race in one call of fifty, a ring of buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeAlias

from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.check.call.exchange import CallRequest, Reply, Setting, are_alike
from opproof.harness.check.call.guard_regions import Fence
from opproof.harness.check.call.reference import CallFn, Native
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.judge.advisories import (
    in_autocast,
    probe_far_numbers,
    probe_hidden_rows,
    probe_nonfinite,
    probe_related_inputs,
    probe_unread_inputs,
    probe_written_inputs,
    with_another_axis,
)
from opproof.harness.check.judge.budget import take_in_time
from opproof.harness.check.judge.compare import find_off_answers
from opproof.harness.check.judge.faults import describe_overwritten
from opproof.harness.check.judge.outcome import PassedVariant, VariantResult, with_failure
from opproof.harness.check.judge.partial_gradients import in_parts
from opproof.harness.check.judge.stale_cache import by_beginnings, by_version
from opproof.harness.check.judge.standalone import Unwatched, by_script
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.tensors import CONTIGUOUS
from opproof.harness.check.variants.variant import GIVEN
from opproof.harness.clock import Allowed, Clock
from opproof.harness.judge.judgement import Judgement

#: Seconds that each of these may take at most, and the share of what the check took so far.
_MAX_QUESTION_SECONDS = 1.0
_QUESTION_TIME_SHARE = 0.1
#: What is said where one call alone takes longer.
LEFT = "other ways of calling"
#: Seconds in which what is asked a few times can be begun, however short the check was.
_MIN_FEW_CALLS_SECONDS = 0.5


def run_final_pass(
    found: Sequence[VariantResult],
    ask: CallFn,
    reference: Native,
    wish: CheckOptions,
    clock: Clock,
    *,
    isolated: bool,
    standalone: Unwatched | None = None,
) -> tuple[list[VariantResult], tuple[str, ...]]:
    """What was tried, all of it right, with what turns out wrong, and what there was no time for.

    `clock`: of the check. `isolated`: the candidate is in a process of its own, which may die.
    """
    seconds = min(_MAX_QUESTION_SECONDS, _QUESTION_TIME_SHARE * clock.spent)
    few = max(seconds, _MIN_FEW_CALLS_SECONDS)
    slow = found[0].reply.seconds > few
    first = found[0].right if found[0].variant.name == GIVEN else None
    questions = _make_questions(ask, reference, wish, seconds, few, slow=slow)
    if first is not None and (wrong := next(filter(None, (asked(first) for asked in questions)), None)):
        return [wrong, *found[1:]], ()
    if slow:
        return list(found), (LEFT,)
    made = try_fenced_sizes(found, ask, few, isolated=isolated)
    if standalone is not None and all(t.right is not None or t.declined for t in made):
        made = by_script(made, standalone)
    return [*made, *(() if first is None else _find_advisories(first, ask, reference, few, isolated=isolated))], ()


#: What is asked of the inputs as given, and comes to a failure or to nothing.
_Question: TypeAlias = Callable[[PassedVariant], VariantResult | None]


def _make_questions(
    ask: CallFn, reference: Native, wish: CheckOptions, seconds: float, few: float, *, slow: bool
) -> Iterator[_Question]:
    """All of them, of a slow kernel the first two; `few`: seconds for what a few calls show."""
    if wish.bits is None:
        yield lambda first: find_unrepeated(first, ask, seconds, reuses=wish.reuses_outputs)
    yield lambda first: ask_without_gradients(first, ask, seconds, reuses=wish.reuses_outputs)
    if slow:
        return
    if wish.bits is None:
        yield lambda first: by_beginnings(first, ask, reference, few)
    yield lambda first: find_repeated_draws(first, ask, reference)
    yield lambda first: in_settings(first, ask, reference, few, shares=wish.reuses_outputs)
    yield lambda first: in_parts(first, ask, few)


def _find_advisories(
    first: PassedVariant, ask: CallFn, reference: Native, seconds: float, *, isolated: bool
) -> Iterator[VariantResult]:
    """What is no failure, and told."""
    yield from probe_nonfinite(first, ask, reference, seconds)
    yield from probe_hidden_rows(first, ask, reference, seconds)
    yield from probe_unread_inputs(first, ask, reference)
    yield from by_version(first, ask, reference, seconds)
    yield from with_another_axis(first, ask, reference, seconds)
    yield from in_autocast(first, ask, reference)
    yield from probe_written_inputs(first, ask, reference)
    if isolated:
        yield from probe_far_numbers(first, ask, reference, seconds)
        yield from probe_related_inputs(first, ask, reference, seconds)


#: Another seed than that of usual calls: who sets it to that one has changed nothing there.
_SEED_OFFSET = 20_011
#: Calls in which threads may meet.
_MEETING_CALLS = 8
#: Settings in which other numbers come in what might be shared.
_WITH_OTHERS = frozenset((Setting.REWRITTEN, Setting.RENEWED, Setting.HELD, Setting.BESIDE))
#: Settings that are no question here: others ask in them, by rules of their own.
_ASKED_APART = frozenset((Setting.AUTOCAST, Setting.AGAIN, Setting.WRITTEN))
#: Settings in which no gradients are asked for.
_PLAIN = frozenset(
    (Setting.INFERENCE, Setting.CONSTANT, Setting.REWRITTEN, Setting.RENEWED, Setting.LATE, Setting.HELD)
)
#: What is next to tensors, where the candidate may die of it; and where it may not.
_CLOSED = (Fence.AFTER, Fence.BEFORE)
_OPEN = (Fence.BYTES,)
#: What is said of values that are wrong between them.
_OF_NAN = "where memory that it has not written, and what lies beside its tensors, is NaN"


def ask_between_fences(one: PassedVariant, ask: CallFn, *, isolated: bool) -> VariantResult | None:
    """What touches memory beside the tensors of a variant is out of bounds. `isolated`: it may die of it."""
    if one.variant.layout != CONTIGUOUS:
        return None
    request = one.asked.request
    both = (request, request.plain) if request.cotangents else (request,)
    for fence, asked in product(_CLOSED if isolated else _OPEN, both):
        reply = ask(replace(asked, fence=fence))
        if reply.error and reply.cause is Verdict.CRASH:
            text = f"{reply.error} where memory {fence} each tensor may not be touched: it reads or writes there"
            return with_failure(one, reply, Mode.FORWARD, Judgement(Verdict.OUT_OF_BOUNDS, text))
        if reply.error or reply.failed or reply.declined:  # what watches over its memory, it does not take
            continue
        for mode, judgement in _judge_repeat(one, reply):
            if judgement.verdict in FAILED:
                return with_failure(one, reply, mode, judgement, "" if reply.harm is not None else _OF_NAN)
    return None


def in_settings(
    first: PassedVariant, ask: CallFn, reference: Native, seconds: float, *, shares: bool
) -> VariantResult | None:
    """What is wrong in a setting that the reference bears.

    `seconds`: for each setting, begun in time. `shares`: that all its calls have one memory for their results is
    declared.
    """
    for setting in _settings_of(first.asked, shares=shares):
        requests = _in_setting(first, setting)
        own = reference.call_native(
            replace(requests[0], setting=Setting.USUAL) if setting is Setting.HELD else requests[0]
        )
        if own.error:
            continue
        for request in take_in_time(seconds, requests):
            reply = ask(request)
            if reply.declined and not reply.outputs:
                continue
            if own.harm is not None:
                reply = replace(reply, harm=None)
            for mode, judgement in _judge_repeat(first, reply):
                if judgement.verdict in FAILED:
                    return with_failure(first, reply, mode, judgement, setting)
    return None


def _settings_of(asked: ReferenceReply, *, shares: bool) -> Iterator[Setting]:
    """All that are unusual; beside and after other calls not where these set what all share: parameters, an input."""
    request = asked.request
    alone = asked.reply.draws or request.after or any(t.param for t in request.tensors)
    left = {Setting.USUAL, *_ASKED_APART} | (_WITH_OTHERS if alone else set())
    if request.after or any(y.shares >= 0 for y in asked.outputs):
        left.add(Setting.LATE)
    if not request.cotangents or any(y.dtype.startswith("complex") for y in asked.outputs):
        left.add(Setting.NET)
    left |= {Setting.BESIDE, Setting.HELD} if shares else set()
    return (s for s in Setting if s not in left)


def _in_setting(one: PassedVariant, setting: Setting) -> tuple[CallRequest, ...]:
    """What is asked in it, without gradients where none can be; several times where threads may meet."""
    asked = one.asked
    request = asked.request if asked.reply.draws else replace(asked.request, seed=asked.request.seed + _SEED_OFFSET)
    plain, own = (replace(r, setting=setting) for r in (request.plain, request))
    if setting in _PLAIN:
        return (plain,)
    if setting is Setting.BESIDE:
        return (plain, own) * _MEETING_CALLS if request.cotangents else (plain,) * _MEETING_CALLS
    return (own,) * (_MEETING_CALLS // 2 if setting is Setting.MANY else 1)


def _judge_repeat(one: PassedVariant, reply: Reply) -> Iterator[tuple[Mode, Judgement]]:
    """What is wrong with a reply to a request that was answered rightly before; the same bits are right again."""
    if reply.error:
        yield Mode.FORWARD, Judgement(reply.cause, reply.error)
    elif reply.harm is not None:
        yield Mode.FORWARD, Judgement(reply.harm.verdict, reply.harm.text)
    else:
        yield from find_off_answers(one, reply)


def try_fenced_sizes(
    found: Sequence[VariantResult], ask: CallFn, seconds: float, *, isolated: bool
) -> list[VariantResult]:
    """The variants, those of the given values at their sizes and at others asked between fences, until one fails."""
    allowed = Allowed(seconds)
    for i, one in enumerate(found):
        if allowed.over:
            break
        usual = one.variant.fill == "normal" and one.variant.rest is None
        wrong = ask_between_fences(one.right, ask, isolated=isolated) if usual and one.right is not None else None
        if wrong is not None:
            return [*found[:i], wrong, *found[i + 1 :]]
    return list(found)


#: Which calls are of the variant's other data: of any two that are so far apart as outputs are held some differ.
_OTHER_DATA_CALLS = "1001011001101001"
#: Calls that are made, however slow.
_MIN_CALLS = 2


def ask_without_gradients(first: PassedVariant, ask: CallFn, seconds: float, *, reuses: bool) -> VariantResult | None:
    """What fails without gradients, after its other data and after itself, is said of its forward.

    So many calls that a ring of buffers comes round, if `seconds` suffice. `reuses`: that it may is declared.
    """
    if not first.asked.request.cotangents:
        return None
    asked = first.asked.request.plain
    other = replace(asked, tensors=first.variant.decoy_data)
    allowed = Allowed(seconds)
    for i, is_other in enumerate(c == "1" for c in _OTHER_DATA_CALLS):
        if i >= _MIN_CALLS and allowed.over:
            break
        reply = ask(other if is_other else asked)
        judgement: Judgement | None = None
        if reply.error:
            judgement = Judgement(reply.cause, reply.error)
        elif reply.overwritten >= 0 and not reuses:
            judgement = describe_overwritten(reply.overwritten, first.asked)
        elif not is_other:
            judgement = next((j for _, j in find_off_answers(first, reply)), None)
        if judgement is not None and judgement.verdict in FAILED:
            return with_failure(first, reply, Mode.FORWARD, judgement, "where no gradient is asked for (torch.no_grad)")
    return None


#: Of fewer numbers two draws may be alike by chance.
_MIN_DRAWN_NUMBERS = 32
_TEXT = "the second of two calls draws the random numbers of the first, where the reference draws others"


def find_repeated_draws(first: PassedVariant, ask: CallFn, reference: Native) -> VariantResult | None:
    """WRONG_VALUE where a second call answers as the first, and the reference's second does not."""
    request = first.asked.request.plain
    if not first.asked.reply.draws or sum(y.values.size for y in first.asked.outputs) < _MIN_DRAWN_NUMBERS:
        return None
    again = replace(request, setting=Setting.AGAIN)
    own = [reference.call_native(r).outputs for r in (request, again)]
    if are_alike(*own):
        return None
    once, reply = ask(request), ask(again)
    if once.error or reply.error or not are_alike(once.outputs, reply.outputs):
        return None
    return with_failure(first, reply, Mode.FORWARD, Judgement(Verdict.WRONG_VALUE, _TEXT))


#: Calls at most: more than results are held for.
MAX_REPEATED_CALLS = 600


def find_unrepeated(first: PassedVariant, ask: CallFn, seconds: float, *, reuses: bool) -> VariantResult | None:
    """NOT_REPEATABLE where a later call gave other bits than the one that was judged; its other data come between.

    Of two calls, however far apart, some have other data: a ring of buffers shows. `reuses`: that it may is declared.
    """
    asked, allowed = first.asked.request, Allowed(seconds)
    other = replace(asked, tensors=first.variant.decoy_data)
    for i in range(MAX_REPEATED_CALLS):
        is_other = i.bit_count() % 2 == 1
        reply = ask(other if is_other else asked)
        if reply.overwritten >= 0 and not reuses:
            return with_failure(first, reply, Mode.FORWARD, describe_overwritten(reply.overwritten, first.asked))
        for mode, same in (
            (Mode.FORWARD, is_other or are_alike(reply.outputs, first.reply.outputs)),
            (Mode.GRADIENT, is_other or are_alike(reply.gradients, first.reply.gradients)),
        ):
            if not same or reply.error:
                text = reply.error or f"one call in {i + 1} gave other {_NOUNS[mode]}"
                verdict = reply.cause if reply.error else Verdict.NOT_REPEATABLE
                return with_failure(first, reply, mode, Judgement(verdict, text))
        if allowed.over:
            break
    return None


_NOUNS = {Mode.FORWARD: "outputs", Mode.GRADIENT: "gradients"}
