"""What was right asked again under other circumstances: between memory that nobody may touch, and in other settings.

A last tile that is stored without a mask writes past its tensor at ragged sizes alone, so these are asked too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.check.sides.exchange import Reply, Request
from opproof.harness.check.sides.facts import Facts
from opproof.harness.check.sides.fences import Fence
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.sides.settings import Setting
from opproof.harness.check.tensors import CONTIGUOUS
from opproof.harness.check.trial.in_time import begun_in
from opproof.harness.check.trial.off import off
from opproof.harness.check.trial.outcome import Right, Tried, with_failure
from opproof.harness.clock import Allowed
from opproof.harness.judge.judgement import Judgement

#: Another seed than that of usual calls: who sets it to that one has changed nothing there.
_SEED = 20_011
#: Calls in which threads may meet.
_MEETINGS = 8
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


def between_fences(one: Right, ask: Ask, *, apart: bool) -> Tried | None:
    """What touches memory beside the tensors of a variant is out of bounds. `apart`: it may die of it."""
    if one.variant.layout != CONTIGUOUS:
        return None
    request = one.asked.request
    both = (request, request.plain) if request.cotangents else (request,)
    for fence, asked in product(_CLOSED if apart else _OPEN, both):
        reply = ask(replace(asked, fence=fence))
        if reply.error and reply.cause is Verdict.CRASH:
            text = f"{reply.error} where memory {fence} each tensor may not be touched: it reads or writes there"
            return with_failure(one, reply, Mode.FORWARD, Judgement(Verdict.OUT_OF_BOUNDS, text))
        if reply.error or reply.failed or reply.declined:  # what watches over its memory, it does not take
            continue
        for mode, judgement in _judged(one, reply):
            if judgement.verdict in FAILED:
                return with_failure(one, reply, mode, judgement, "" if reply.harm is not None else _OF_NAN)
    return None


def in_settings(first: Right, ask: Ask, reference: Native, seconds: float, *, shares: bool) -> Tried | None:
    """What is wrong in a setting that the reference bears.

    `seconds`: for each setting, begun in time. `shares`: that all its calls have one memory for their results is
    declared.
    """
    for setting in _settings_of(first.asked, shares=shares):
        requests = _in_setting(first, setting)
        own = reference.native(replace(requests[0], setting=Setting.USUAL) if setting is Setting.HELD else requests[0])
        if own.error:
            continue
        for request in begun_in(seconds, requests):
            reply = ask(request)
            if reply.declined and not reply.outputs:
                continue
            if own.harm is not None:
                reply = replace(reply, harm=None)
            for mode, judgement in _judged(first, reply):
                if judgement.verdict in FAILED:
                    return with_failure(first, reply, mode, judgement, setting)
    return None


def _settings_of(asked: Facts, *, shares: bool) -> Iterator[Setting]:
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


def _in_setting(one: Right, setting: Setting) -> tuple[Request, ...]:
    """What is asked in it, without gradients where none can be; several times where threads may meet."""
    asked = one.asked
    request = asked.request if asked.reply.draws else replace(asked.request, seed=asked.request.seed + _SEED)
    plain, own = (replace(r, setting=setting) for r in (request.plain, request))
    if setting in _PLAIN:
        return (plain,)
    if setting is Setting.BESIDE:
        return (plain, own) * _MEETINGS if request.cotangents else (plain,) * _MEETINGS
    return (own,) * (_MEETINGS // 2 if setting is Setting.MANY else 1)


def _judged(one: Right, reply: Reply) -> Iterator[tuple[Mode, Judgement]]:
    """What is wrong with a reply to a request that was answered rightly before; the same bits are right again."""
    if reply.error:
        yield Mode.FORWARD, Judgement(reply.cause, reply.error)
    elif reply.harm is not None:
        yield Mode.FORWARD, Judgement(reply.harm.verdict, reply.harm.text)
    else:
        yield from off(one, reply)


def fenced_sizes(found: Sequence[Tried], ask: Ask, seconds: float, *, apart: bool) -> list[Tried]:
    """The variants, those of the given values at their sizes and at others asked between fences, until one fails."""
    allowed = Allowed(seconds)
    for i, one in enumerate(found):
        if allowed.over:
            break
        usual = one.variant.fill == "normal" and one.variant.rest is None
        wrong = between_fences(one.right, ask, apart=apart) if usual and one.right is not None else None
        if wrong is not None:
            return [*found[:i], wrong, *found[i + 1 :]]
    return list(found)
