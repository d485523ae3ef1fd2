"""What is asked last, once all is right: the same again, in other ways of calling, beside what nobody may touch.

And from a standalone script, where no judge is near. A candidate that is right only where one is (names on the stack, a
fence, an audit hook) is wrong there. What it may read there is no matter: it is held against what it has answered
before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor, Setting, are_alike
from opproof.harness.check.call.guard_regions import Fence
from opproof.harness.check.call.isolated import Located
from opproof.harness.check.call.reference import CallFn, Native
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.call.subject import Form
from opproof.harness.check.judge.advisories import find_advisories
from opproof.harness.check.judge.budget import take_in_time, take_until_refused
from opproof.harness.check.judge.compare import find_off_answers, find_shared_error
from opproof.harness.check.judge.faults import describe_overwritten
from opproof.harness.check.judge.outcome import PassedVariant, VariantResult, with_failure
from opproof.harness.check.judge.partial_gradients import in_parts
from opproof.harness.check.judge.stale_cache import by_beginnings
from opproof.harness.check.options import CallBudget, CheckOptions
from opproof.harness.check.tensors import CONTIGUOUS, to_torch
from opproof.harness.check.variants.variant import GIVEN
from opproof.harness.clock import Allowed, Clock
from opproof.harness.judge.judgement import Judgement
from opproof.harness.run.standalone.caller import JobAnswer, ask_program

#: Seconds that each of these may take at most, and the share of what the check took so far.
_MAX_QUESTION_SECONDS = 1.0
_QUESTION_TIME_SHARE = 0.1
#: What is said where one call alone takes longer.
LEFT = "other ways of calling"
#: Seconds in which what is asked a few times can be begun, however short the check was.
_MIN_FEW_CALLS_SECONDS = 0.5
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
#: Which calls without gradients are of other data: of any two that are so far apart as outputs are held some differ.
_OTHER_DATA_CALLS = "1001011001101001"
#: Calls that are made, however slow; and how often one is repeated at most, more than results are held for.
_MIN_CALLS = 2
MAX_REPEATED_CALLS = 600
#: Of fewer numbers two draws may be alike by chance.
_MIN_DRAWN_NUMBERS = 32
_REPEATED_DRAWS = "the second of two calls draws the random numbers of the first, where the reference draws others"


@dataclass(frozen=True)
class FinalResult:
    """What was tried, with what turned out wrong; names of what there was no time for; and what is no failure."""

    tried: list[VariantResult]
    left: tuple[str, ...] = ()
    advisories: tuple[str, ...] = ()


@dataclass(frozen=True)
class FinalPass:
    """The last questions to a candidate; `isolated`: it is in a process of its own, which may die."""

    ask: CallFn
    reference: Native
    wish: CheckOptions
    isolated: bool

    def run(self, found: Sequence[VariantResult], clock: Clock, standalone: Unwatched | None = None) -> FinalResult:
        """Ask them of what was tried, all of it right, `standalone` from a standalone script; `clock`: of the check."""
        passed = list(filter(None, (one.right for one in found)))
        if passed and (shared := find_shared_error(passed)):
            first_of_all = with_failure(passed[0], passed[0].reply, *shared)
            return FinalResult([first_of_all, *(one for one in found if one.variant is not passed[0].variant)])
        seconds = min(_MAX_QUESTION_SECONDS, _QUESTION_TIME_SHARE * clock.spent)
        few = max(seconds, _MIN_FEW_CALLS_SECONDS)
        slow = found[0].reply.seconds > few
        first = found[0].right if found[0].variant.name == GIVEN else None
        if first is not None:
            answers = (asked(first) for asked in self._list_questions(seconds, few, slow=slow))
            if wrong := next(filter(None, answers), None):
                return FinalResult([wrong, *found[1:]])
        if slow:
            return FinalResult([*found], (LEFT,))
        made = self.try_fenced_sizes(found, few)
        if standalone is not None and all(t.right is not None or t.declined for t in made):
            made = by_script(made, standalone)
        if first is None:
            return FinalResult(made)
        found_late = find_advisories(first, self.ask, self.reference, few, isolated=self.isolated)
        return FinalResult(made, advisories=tuple(map(str, take_until_refused(found_late))))

    def _list_questions(
        self, seconds: float, few: float, *, slow: bool
    ) -> Iterator[Callable[[PassedVariant], VariantResult | None]]:
        """What is asked of the inputs as given, and comes to a failure or to nothing; of a slow kernel the first two.

        `few`: seconds for what a few calls show.
        """
        if self.wish.bits is None:
            yield lambda first: self.find_unrepeated(first, seconds)
        yield lambda first: self.ask_without_gradients(first, seconds)
        if slow:
            return
        if self.wish.bits is None:
            yield lambda first: by_beginnings(first, self.ask, self.reference, few)
        yield self.find_repeated_draws
        yield lambda first: self.in_settings(first, few)
        yield lambda first: in_parts(first, self.ask, few)

    def find_unrepeated(self, first: PassedVariant, seconds: float) -> VariantResult | None:
        """NOT_REPEATABLE where a later call gave other bits than the one that was judged: a race in one of fifty.

        Its other data come between. Of two calls, however far apart, some have other data: a ring of buffers shows.
        """
        asked, allowed = first.asked.request, Allowed(seconds)
        other = replace(asked, tensors=first.variant.decoy_data)
        for i in range(MAX_REPEATED_CALLS):
            is_other = i.bit_count() % 2 == 1
            reply = self.ask(other if is_other else asked)
            if (lost := self._find_overwritten(first, reply)) is not None:
                return with_failure(first, reply, Mode.FORWARD, lost)
            for mode, noun, got, before in (
                (Mode.FORWARD, "outputs", reply.outputs, first.reply.outputs),
                (Mode.GRADIENT, "gradients", reply.gradients, first.reply.gradients),
            ):
                if reply.error or not (is_other or are_alike(got, before)):
                    text = reply.error or f"one call in {i + 1} gave other {noun}"
                    verdict = reply.cause if reply.error else Verdict.NOT_REPEATABLE
                    return with_failure(first, reply, mode, Judgement(verdict, text))
            if allowed.over:
                break
        return None

    def ask_without_gradients(self, first: PassedVariant, seconds: float) -> VariantResult | None:
        """What fails as inference has it, after its other data and after itself, is said of its forward.

        So many calls that a ring of buffers comes round, if `seconds` suffice.
        """
        if not first.asked.request.cotangents:
            return None
        asked = first.asked.request.plain
        other = replace(asked, tensors=first.variant.decoy_data)
        allowed = Allowed(seconds)
        for i, is_other in enumerate(c == "1" for c in _OTHER_DATA_CALLS):
            if i >= _MIN_CALLS and allowed.over:
                break
            reply = self.ask(other if is_other else asked)
            judgement = Judgement(reply.cause, reply.error) if reply.error else self._find_overwritten(first, reply)
            if judgement is None and not is_other:
                judgement = next((j for _, j in find_off_answers(first, reply)), None)
            if judgement is not None and judgement.verdict in FAILED:
                where = "where no gradient is asked for (torch.no_grad)"
                return with_failure(first, reply, Mode.FORWARD, judgement, where)
        return None

    def _find_overwritten(self, first: PassedVariant, reply: Reply) -> Judgement | None:
        """What is said of a result of a call before whose memory was used again, unless that is declared."""
        if reply.overwritten < 0 or self.wish.reuses_outputs:
            return None
        return describe_overwritten(reply.overwritten, first.asked)

    def find_repeated_draws(self, first: PassedVariant) -> VariantResult | None:
        """WRONG_VALUE where a second call without a new seed answers as the first, and the reference's does not."""
        request = first.asked.request.plain
        if not first.asked.reply.draws or sum(y.values.size for y in first.asked.outputs) < _MIN_DRAWN_NUMBERS:
            return None
        again = replace(request, setting=Setting.AGAIN)
        if are_alike(*(self.reference.call_native(r).outputs for r in (request, again))):
            return None
        once, reply = self.ask(request), self.ask(again)
        if once.error or reply.error or not are_alike(once.outputs, reply.outputs):
            return None
        return with_failure(first, reply, Mode.FORWARD, Judgement(Verdict.WRONG_VALUE, _REPEATED_DRAWS))

    def in_settings(self, first: PassedVariant, seconds: float) -> VariantResult | None:
        """What is wrong in a setting that the reference bears; `seconds`: for each setting, begun in time."""
        for setting in _settings_of(first.asked, shares=self.wish.reuses_outputs):
            requests = _in_setting(first, setting)
            usual = Setting.USUAL if setting is Setting.HELD else setting
            own = self.reference.call_native(replace(requests[0], setting=usual))
            if own.error:
                continue
            for request in take_in_time(seconds, requests):
                reply = self.ask(request)
                if reply.declined and not reply.outputs:
                    continue
                if own.harm is not None:
                    reply = replace(reply, harm=None)
                if wrong := _find_wrong_repeat(first, reply, setting):
                    return wrong
        return None

    def try_fenced_sizes(self, found: Sequence[VariantResult], seconds: float) -> list[VariantResult]:
        """The variants, those of the given values at their sizes and at others asked between fences, until one fails.

        A last tile that is stored without a mask writes past its tensor at ragged sizes alone.
        """
        allowed = Allowed(seconds)
        for i, one in enumerate(found):
            if allowed.over:
                break
            usual = one.variant.fill == "normal" and one.variant.rest is None
            wrong = self.ask_between_fences(one.right) if usual and one.right is not None else None
            if wrong is not None:
                return [*found[:i], wrong, *found[i + 1 :]]
        return list(found)

    def ask_between_fences(self, one: PassedVariant) -> VariantResult | None:
        """What touches memory beside the tensors of a variant is out of bounds."""
        if one.variant.layout != CONTIGUOUS:
            return None
        request = one.asked.request
        both = (request, request.plain) if request.cotangents else (request,)
        for fence, asked in product(_CLOSED if self.isolated else _OPEN, both):
            reply = self.ask(replace(asked, fence=fence))
            if reply.error and reply.cause is Verdict.CRASH:
                text = f"{reply.error} where memory {fence} each tensor may not be touched: it reads or writes there"
                return with_failure(one, reply, Mode.FORWARD, Judgement(Verdict.OUT_OF_BOUNDS, text))
            if reply.error or reply.failed or reply.declined:  # what watches over its memory, it does not take
                continue
            if wrong := _find_wrong_repeat(one, reply, "" if reply.harm is not None else _OF_NAN):
                return wrong
        return None


def _settings_of(asked: ReferenceReply, *, shares: bool) -> Iterator[Setting]:
    """All that are unusual; beside and after other calls not where these set what all share: parameters, an input.

    `shares`: that all calls have one memory for their results is declared.
    """
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


def _find_wrong_repeat(one: PassedVariant, reply: Reply, where: str) -> VariantResult | None:
    """What is wrong with a reply to a request that was answered rightly before; the same bits are right again."""
    if reply.error:
        found = iter([(Mode.FORWARD, Judgement(reply.cause, reply.error))])
    elif reply.harm is not None:
        found = iter([(Mode.FORWARD, Judgement(reply.harm.verdict, reply.harm.text))])
    else:
        found = find_off_answers(one, reply)
    wrong = ((mode, judgement) for mode, judgement in found if judgement.verdict in FAILED)
    return next((with_failure(one, reply, mode, judgement, where) for mode, judgement in wrong), None)


#: What answers requests there, and then, where there is time, each once more after many calls; None without answers.
Unwatched: TypeAlias = Callable[[Sequence[CallRequest]], Sequence[Reply] | None]

#: Kinds of nestings that a program is given as they are.
_PLAIN_NESTINGS = (tuple, list, dict)


def make_standalone_caller(located: Located, form: Form, calls: CallBudget) -> Unwatched:
    """What asks a function or class so, for what is left of the time of calls."""

    def ask(requests: Sequence[CallRequest]) -> Sequence[Reply] | None:
        if not _is_plain(form.arguments.spec):
            return None
        seconds = min(located.seconds, calls.allowed.left)
        with suppress(Exception):
            jobs = [_make_job(located, form.with_rest(request.rest), request) for request in requests]
            answers = ask_program(located.file, jobs, seconds, limit=seconds, place=Path.cwd()).answers
            first = [_read_reply(answer, "") for answer in answers]
            with suppress(Exception):  # what it did not come to in its time
                first += [_read_reply(answer, "late ") for answer in answers]
            return first
        return None

    return ask


def _is_plain(spec: Any) -> bool:
    return spec.is_leaf() or (spec.type in _PLAIN_NESTINGS and all(map(_is_plain, spec.children())))


def _make_job(located: Located, form: Form, request: CallRequest) -> dict[str, object]:
    import torch

    tensors = [to_torch(torch, t, request.device) for t in request.tensors]
    given, named = form.arguments.split(tensors[: form.count])
    return {
        "label": located.label, "made_with": located.init, "evaluation": located.evaluation,
        "state": (*form.parameters, *form.buffers), "tensors": tensors, "given": given, "named": named,
        "seed": request.seed, "after": request.after, "needs": request.needs or (False,) * len(tensors),
        "cotangents": [None if g is None else torch.from_numpy(np.array(g)) for g in request.cotangents],
    }  # fmt: skip


def _read_reply(answer: JobAnswer | None, when: str) -> Reply:
    """What a program answered. Raises LookupError and its like where no answer is."""
    assert answer is not None
    outputs, gradients = (
        [
            None
            if y is None
            else ReplyTensor(y.astype(np.int64) if y.dtype.kind in "iu" else y, kind.removeprefix("torch."))
            for y, kind in zip(answer.ways[way], answer.kinds[way], strict=True)
        ]
        for way in (f"{when}outputs", f"{when}gradients")
    )
    return Reply(outputs=tuple(y for y in outputs if y is not None), gradients=tuple(gradients))


#: What is said of a candidate that answers otherwise there.
WHERE = "where a program that is not opproof calls it; as it is called here it is right"


def by_script(found: Sequence[VariantResult], ask: Unwatched) -> list[VariantResult]:
    """What was tried, with the first that is wrong there: of the given inputs, of the largest and of the last."""
    some = _select_few([one for t in found if (one := t.right) is not None])
    replies = ask([one.asked.request for one in some]) if some else None
    for one, reply in zip([*some, *some], replies or (), strict=False):  # the second time after many calls
        for mode, judgement in find_off_answers(one, reply):
            if judgement.verdict in FAILED:
                wrong = with_failure(one, reply, mode, judgement, WHERE)
                return [wrong if t.variant is one.variant else t for t in found]
    return list(found)


def _select_few(right: Sequence[PassedVariant]) -> list[PassedVariant]:
    usual = (one for one in right if one.variant.layout == CONTIGUOUS and not one.variant.one)
    some = [one for one in usual if not one.asked.reply.draws]
    if not some:
        return []
    largest = max(some, key=lambda one: sum(t.values.size for t in one.asked.request.tensors))
    chosen = {id(one): one for one in (some[0], largest, some[-1])}
    return list(chosen.values())
