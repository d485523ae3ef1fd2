"""Gradients asked for in other parts than all at once: of some tensors, of one output, of tensors that are one object.

A fused kernel has a path of its own for each, which no call that asks for all of them ever takes. What a forward saves
is its own, so that another call or another backward before its backward changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, compress

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import BeforeBackward, CallRequest, Reply, ReplyTensor, are_alike, is_near
from opproof.harness.check.call.guard_regions import Fence
from opproof.harness.check.call.reference import CallFn
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.judge.budget import take_in_time, take_until_refused
from opproof.harness.check.judge.compare import fails, judge, judge_gradients, judge_outputs, make_own_truth
from opproof.harness.check.judge.faults import describe_changed_input, find_aliasing
from opproof.harness.check.judge.judged_variant import NOT_THESE, JudgedVariant, PartialCall
from opproof.harness.check.judge.outcome import PassedVariant, VariantResult, with_failure
from opproof.harness.judge.judgement import JudgedTensor, Judgement
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.evaluate import Truth, compute_truth

#: Tensors whose gradient is asked for alone, or left out alone; of two these are the same.
_MAX_ALONE_TENSORS = 4
_MIN_CHOSEN_TENSORS = 2
#: Of so many at most every choice is asked for, of more so many that are drawn.
_MAX_EVERY_CHOICE_TENSORS = 6
_DRAWN_CHOICES = 40
#: What is said where a second backward is another.
_ONE_BACKWARD = "; if only the first backward counts by contract, say backwards=1"


def find_partial_differences(
    ask: CallFn, asked: ReferenceReply, whole: Reply, seconds: float, *, alone: bool, between: bool
) -> list[PartialCall]:
    """The calls whose answers have other bits than `whole`; of one tensor alone, and without one, where `alone`.

    `between`: with another call before the backward, or another backward. In so many seconds what tells most is asked.
    """
    request = asked.request
    if not request.cotangents or whole.declined or whole.failed:
        return []
    differentiable = [i for i, d in enumerate(whole.gradients) if d is not None and request.needs[i]]
    calls = [(request.plain, "where no gradient is asked for")]
    if between and differentiable and not request.after:
        calls += [
            (replace(request, before=before), f"where {before} comes before its backward")
            for before in (BeforeBackward.CALL, BeforeBackward.BACKWARD)
        ]
    calls += _choose_gradients(request, differentiable) if alone else []
    found = []
    replies = ((one, where, ask(one)) for one, where in take_in_time(seconds, calls))
    for one, where, reply in take_until_refused(replies):
        if one.before is BeforeBackward.BACKWARD and reply.failed:  # it says that it gives one alone
            continue
        mode = Mode.GRADIENT if one.cotangents else Mode.FORWARD
        part = PartialCall(mode, replace(asked, request=one, reply=replace(asked.reply, outputs=())), reply, where)
        odd = reply.error or reply.failed or reply.declined or describe_changed_input(reply, asked)
        if odd or _judge_sharing(part) or not _as_in(mode, reply, whole, one.needs):
            found.append(part)
    return found


def _choose_gradients(request: CallRequest, differentiable: Sequence[int]) -> list[tuple[CallRequest, str]]:
    """The call for one gradient alone, for all but one, and for every choice of a few, or for some choices of many."""
    calls, count = list[tuple[CallRequest, str]](), len(differentiable)
    for i in differentiable[:_MAX_ALONE_TENSORS] if count > 1 else ():
        needs = tuple(i == j for j in range(len(request.needs)))
        where = f"where the gradient of {request.tensors[i].name} alone is asked for"
        calls.append((replace(request, needs=needs), where))
    for i in differentiable[:_MAX_ALONE_TENSORS] if count > _MIN_CHOSEN_TENSORS else ():
        needs = tuple(need and i != j for j, need in enumerate(request.needs))
        where = f"where all gradients but that of {request.tensors[i].name} are asked for"
        calls.append((replace(request, needs=needs), where))
    choices: Iterable[Sequence[int]] = ()
    if _MIN_CHOSEN_TENSORS < count <= _MAX_EVERY_CHOICE_TENSORS:
        sizes = range(_MIN_CHOSEN_TENSORS, count - 1)
        choices = chain.from_iterable(combinations(differentiable, size) for size in sizes)
    elif count > _MAX_EVERY_CHOICE_TENSORS:
        choices = _some_of(differentiable)
    return calls + [_of_these(request, chosen) for chosen in choices]


def _some_of(all_: Sequence[int]) -> Iterator[list[int]]:
    """Drawn choices of two at least: each with and without any three others in most of them."""
    rng = np.random.default_rng(len(all_))
    for taken in rng.random((_DRAWN_CHOICES, len(all_))) < rng.choice((0.3, 0.5, 0.7), (_DRAWN_CHOICES, 1)):
        if _MIN_CHOSEN_TENSORS <= taken.sum() < len(all_):
            yield list(compress(all_, taken))


def _of_these(request: CallRequest, chosen: Sequence[int]) -> tuple[CallRequest, str]:
    names = " and ".join(request.tensors[i].name for i in chosen)
    needs = tuple(i in chosen for i in range(len(request.needs)))
    return replace(request, needs=needs), f"where the gradients of {names} alone are asked for"


def fail_wrong_part(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Fail where a part of the gradients is wrong when it alone is asked for."""
    for part in one.parts:
        judgement = _judge_part(part, one.known)
        if judgement.verdict in FAILED:
            text = f"{part.where}: {judgement.message}" if judgement.message else part.where
            text += _ONE_BACKWARD if part.asked.request.before is BeforeBackward.BACKWARD else ""
            return one.with_failure(part.mode, replace(judgement, message=text), part.reply)
    return one


def _judge_part(part: PartialCall, known: Truth) -> Judgement:
    reply = part.reply
    if reply.error or reply.failed:
        return Judgement(reply.cause if reply.error else Verdict.ERROR, reply.error or reply.failed)
    if reply.declined:
        return Judgement(Verdict.WRONG_GRADIENT, reply.declined)
    judge_mode = judge_outputs if part.mode is Mode.FORWARD else judge_gradients
    return describe_changed_input(reply, part.asked) or _judge_sharing(part) or judge_mode(part.asked, known, reply)


def _judge_sharing(part: PartialCall) -> Judgement | None:
    """What is said of outputs that are part of an input here, which they are not as a whole."""
    return find_aliasing(part.reply.outputs, part.asked.outputs, [t.name for t in part.asked.request.tensors])


def _as_in(mode: Mode, reply: Reply, whole: Reply, needs: Sequence[bool]) -> bool:
    """Whether what was asked for has the bits that it has in the answer to all."""
    if mode is Mode.FORWARD:
        return are_alike(reply.outputs, whole.outputs)
    some, all_ = ([d for d, need in zip(r.gradients, needs, strict=True) if need] for r in (reply, whole))
    return are_alike(some, all_)


#: Outputs that are used alone, each once.
_MAX_OUTPUTS_ALONE = 2
#: Of the largest gradient: beside PyTorch's own, in its own dtype, only what is lost is told.
_LOST_GRADIENT_SHARE = 0.25


def check_lost_gradients(one: JudgedVariant) -> JudgedVariant:
    """Judge gradients of one output alone, of the inputs as given: what was made for both may be lost.

    Of candidates that autograd goes through: who gives a vjp is given all cotangents.
    """
    if not (one.is_given and all(y.differentiable for y in one.reply.outputs)):
        return one
    request = one.asked.request
    used = [i for i, g in enumerate(request.cotangents) if g is not None]
    for i in used[:_MAX_OUTPUTS_ALONE] if len(used) > 1 else ():
        asked = replace(request, cotangents=tuple(g if j == i else None for j, g in enumerate(request.cotangents)))
        own, reply = one.reference.call_native(asked), one.ask(asked)
        if own.error or own.failed or own.declined:
            continue
        where = f"where y{i} is the only output that is used"
        if said := reply.error or reply.failed or reply.declined:
            return _with_wrong_gradient(one, f"{where}: {said}")
        for t, d, w in zip(request.tensors, reply.gradients, own.gradients, strict=True):
            if w is not None and not is_near(w, d or replace(w, values=w.values * 0), _LOST_GRADIENT_SHARE):
                return _with_wrong_gradient(one, f"{where}, the gradient of {t.name} is another")
    return one


def _with_wrong_gradient(one: JudgedVariant, text: str) -> JudgedVariant:
    return one.with_changed({Mode.GRADIENT: Judgement(Verdict.WRONG_GRADIENT, text)})


def fail_wrong_as_one(one: JudgedVariant) -> JudgedVariant | VariantResult:
    """Fail where gradients of tensors that are one object, as of self attention, are not the sum of theirs.

    A kernel that knows its tensor again takes a short way, and may count it once. Only a candidate that is right for
    equal tensors is asked: what is wrong then comes of their being one.
    """
    asked = one.once.asked(one.reference, one.variant, one.variant.case_data, one.wish) if one.variant.one else ""
    if isinstance(asked, str) or not asked.request.cotangents:
        return one
    try:
        known = compute_truth(asked.make_question(one.reference.outputs(asked.request), one.wish.compute))
    except NOT_THESE:
        return one
    wrong = _judge_as_one(one.ask, asked, known, one.variant.one)
    if wrong is None:
        return one
    if wrong.verdict is Verdict.ERROR:
        own = one.reference.call_native(_as_one(asked.request, one.variant.one))
        if own.error or own.failed:
            return one
    return one.with_failure(Mode.GRADIENT, wrong, one.reply)


def _judge_as_one(ask: CallFn, asked: ReferenceReply, known: Truth, one: tuple[int, ...]) -> Judgement | None:
    """What is wrong with the gradients where the tensors at `one`, which `asked` has apart, are a single one."""
    whole = [i for i in one if asked.request.needs[i] and known.gradients[i] is not None]
    if set(whole) != set(one):
        return None
    apart = ask(asked.request)
    if apart.error or fails(judge(asked, known, apart)):
        return None
    request = _as_one(asked.request, one)
    reply = ask(request)
    if reply.error:
        return Judgement(reply.cause, reply.error)
    judgement = judge_gradients(replace(asked, request=request), _sum_gradients(known, one), reply)
    return judgement if judgement.verdict in FAILED else None


def _as_one(request: CallRequest, one: tuple[int, ...]) -> CallRequest:
    """The call with the first in the place of all, whose gradient alone is asked for."""
    needs = tuple(need and (i not in one or i == min(one)) for i, need in enumerate(request.needs))
    return replace(request, one=one, needs=needs)


def _sum_gradients(known: Truth, one: tuple[int, ...]) -> Truth:
    """What is expected then: each part rounded as it is alone, and their sum once more for every part."""
    parts = [part for i in one if (part := known.gradients[i]) is not None]
    values = np.sum([part.values for part in parts], axis=0)
    spread = np.sqrt(np.sum([part.scale**2 for part in parts], axis=0))
    whole = Expected(values, np.asarray(spread + np.sum([np.abs(part.values) for part in parts], axis=0)))
    return replace(known, gradients=tuple(whole if i == min(one) else g for i, g in enumerate(known.gradients)))


#: How far they may be off: bounds of the whole's, and roundings of what cancels in their sum, of the largest too.
_MAX_BOUNDS = 8.0
_MAX_ROUNDINGS = 16.0
_MAX_LARGEST_ROUNDINGS = 4.0
#: Cotangents are multiples of an eighth, so that parts of them sum to the whole in every dtype.
_COTANGENT_STEP = 0.125
#: Of so many rows one has a cotangent.
_ROWS_PER_COTANGENT = 3


def in_parts(first: PassedVariant, ask: CallFn, seconds: float) -> VariantResult | None:
    """WRONG_GRADIENT where the gradients of parts of a cotangent do not sum to the whole's: a backward is linear.

    Nobody draws zeros there, or ones. A loss of one row leaves the cotangents of all others 0, that of a sum is 1: who
    skips rows without clearing them, or has a path of its own for ones, is wrong there alone.
    """
    request, judged = first.asked.request, first.judgements.get(Mode.GRADIENT)
    if judged is None or judged.verdict is not Verdict.PASS or first.reply.declined or request.after:
        return None
    coarse = [None if g is None else np.round(g / _COTANGENT_STEP) * _COTANGENT_STEP for g in request.cotangents]
    whole = _ask_gradients(ask, request, coarse)
    if whole is None:
        return None
    for part_of, where in take_in_time(seconds, _PARTS):  # the first call between fences loads what watches over them
        part = [None if g is None else part_of(g) for g in coarse]
        rest = [None if g is None or p is None else g - p for g, p in zip(coarse, part, strict=True)]
        some, others = _ask_gradients(ask, request, part), _ask_gradients(ask, request, rest)
        if some is None or others is None:
            continue
        summed = replace(some, gradients=tuple(map(_sum, some.gradients, others.gradients)))
        wrong = judge_gradients(first.asked, make_own_truth(replace(first, reply=whole)), summed)
        if wrong.verdict in WRONG and any(_is_far(w, *_parts_of(w, request, some, others)) for w in wrong.tensors):
            text = f"where {where}: with that of the other part of it, it sums to another gradient than the whole's"
            return with_failure(first, some, Mode.GRADIENT, replace(wrong, message=text))
    return None


def _ask_gradients(ask: CallFn, request: CallRequest, cotangents: Sequence[Array | None]) -> Reply | None:
    """The gradients for other cotangents, in memory that holds NaN where nothing was written; None where none came."""
    asked = replace(request, cotangents=tuple(cotangents))
    for fence in (Fence.BYTES, Fence.NONE):
        reply = ask(replace(asked, fence=fence))
        if not (reply.error or reply.failed or reply.declined):
            return reply
    return None


def _sum(a: ReplyTensor | None, b: ReplyTensor | None) -> ReplyTensor | None:
    if a is None or b is None:
        return a or b
    return replace(a, values=a.values + b.values) if a.values.shape == b.values.shape else a


def _parts_of(wrong: JudgedTensor, request: CallRequest, some: Reply, others: Reply) -> tuple[Array, float]:
    """The size of what was summed, per element, and the unit roundoff of its dtype."""
    at = next(i for i, t in enumerate(request.tensors) if t.name == wrong.name)
    both = [r.gradients[at] for r in (some, others)]
    size = np.sum([np.abs(d.values) for d in both if d is not None], axis=0)
    return size, DTYPES[request.tensors[at].kind].u


def _is_far(wrong: JudgedTensor, size: Array, u: float) -> bool:
    """Whether a sum is off by more than roundings in what was summed explain."""
    allowed = _MAX_BOUNDS * wrong.comparison.bound + u * (
        _MAX_ROUNDINGS * size + _MAX_LARGEST_ROUNDINGS * np.max(size, initial=0.0)
    )
    with np.errstate(invalid="ignore"):
        return bool((~(np.abs(wrong.got - wrong.expected.values) <= allowed)).any())


def _keep_few_rows(g: Array) -> Array:
    """Every third row as it is, and zeros elsewhere; of one axis elements."""
    rows = g.reshape(-1, g.shape[-1]) if g.ndim > 1 else g.reshape(-1, 1)
    return np.where((np.arange(len(rows)) % _ROWS_PER_COTANGENT == 1)[:, None], rows, 0.0).reshape(g.shape)


_PARTS: tuple[tuple[Callable[[Array], Array], str], ...] = (
    (_keep_few_rows, "the cotangent of most rows is 0"),
    (np.ones_like, "the cotangent is 1 everywhere"),
)
