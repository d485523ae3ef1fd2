"""The same call with fewer gradients asked for: none, as at inference, and of one tensor alone.

A fused kernel has another path for either, which no call that asks for all of them ever takes. And the same with
another call before its backward, as of a layer that a network has twice, or another backward: what a forward saves
is its own, and stays.

Gradients where one output alone is used: nothing comes in for the others, and what was made for both may be lost.

Gradients where one tensor stands in the place of several, as of self attention: the sum of theirs.

A kernel that knows its tensor again takes a short way, and may count it once. Only a candidate that is right for equal
tensors is asked: what is wrong then comes of their being one.

Gradients of parts of a cotangent, which sum to that of the whole: a backward is linear in what comes in.

Nobody draws zeros there, or ones. A loss of one row leaves the cotangents of all others 0, and that of a sum is 1: a
backward that skips rows, and does not clear what it skips, or has a path of its own for ones, is wrong there alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.check.call.exchange import BeforeBackward, CallRequest, Reply, ReplyTensor, are_alike, is_near
from opproof.harness.check.call.guard_regions import Fence
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.judge.budget import take_in_time
from opproof.harness.check.judge.compare import fails, judge, judge_gradients, make_own_truth
from opproof.harness.check.judge.faults import describe_changed_input, find_aliasing
from opproof.harness.check.judge.outcome import PassedVariant, VariantResult, with_failure
from opproof.harness.judge.judgement import JudgedTensor, Judgement
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.evaluate import Truth

#: Tensors whose gradient is asked for alone, or left out alone; of two these are the same.
_MAX_ALONE_TENSORS = 4
_MIN_CHOSEN_TENSORS = 2
#: Of so many at most every choice is asked for, of more so many that are drawn.
_MAX_EVERY_CHOICE_TENSORS = 6
_DRAWN_CHOICES = 40


@dataclass(frozen=True)
class PartialCall:
    """One such call that was answered otherwise than the whole."""

    mode: Mode
    asked: ReferenceReply
    reply: Reply
    where: str


def find_partial_differences(
    ask: CallFn, asked: ReferenceReply, whole: Reply, *, alone: bool, between: bool
) -> list[PartialCall]:
    """The calls whose answers have other bits than `whole`; of one tensor alone, and without one, where `alone`.

    `between`: with another call before the backward, or another backward.
    """
    request = asked.request
    if not request.cotangents or whole.declined or whole.failed:
        return []
    calls = [(Mode.FORWARD, request.plain, "where no gradient is asked for")]
    differentiable = [i for i, d in enumerate(whole.gradients) if d is not None and request.needs[i]]
    if alone and len(differentiable) > 1:
        for i in differentiable[:_MAX_ALONE_TENSORS]:
            needs = tuple(i == j for j in range(len(request.needs)))
            where = f"where the gradient of {request.tensors[i].name} alone is asked for"
            calls.append((Mode.GRADIENT, replace(request, needs=needs), where))
        for i in differentiable[:_MAX_ALONE_TENSORS] if len(differentiable) > _MIN_CHOSEN_TENSORS else ():
            needs = tuple(need and i != j for j, need in enumerate(request.needs))
            where = f"where all gradients but that of {request.tensors[i].name} are asked for"
            calls.append((Mode.GRADIENT, replace(request, needs=needs), where))
    if alone and _MIN_CHOSEN_TENSORS < len(differentiable) <= _MAX_EVERY_CHOICE_TENSORS:
        for count in range(_MIN_CHOSEN_TENSORS, len(differentiable) - 1):
            calls += [(Mode.GRADIENT, *_of_these(request, chosen)) for chosen in combinations(differentiable, count)]
    if alone and len(differentiable) > _MAX_EVERY_CHOICE_TENSORS:
        calls += [(Mode.GRADIENT, *_of_these(request, chosen)) for chosen in _some_of(differentiable)]
    if between and differentiable and not request.after:
        calls += [
            (Mode.GRADIENT, replace(request, before=before), f"where {before} comes before its backward")
            for before in (BeforeBackward.CALL, BeforeBackward.BACKWARD)
        ]
    found = []
    for mode, one, where in calls:
        reply = ask(one)
        if one.before is BeforeBackward.BACKWARD and reply.failed:  # it says that it gives one alone
            continue
        narrowed = PartialCall(mode, replace(asked, request=one, reply=replace(asked.reply, outputs=())), reply, where)
        odd = (
            reply.error
            or reply.failed
            or reply.declined
            or describe_changed_input(reply, asked)
            or _judge_sharing(narrowed)
        )
        if odd or not _as_in(mode, reply, whole, one.needs):
            found.append(narrowed)
    return found


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


def judge_parts(
    some: Sequence[PartialCall],
    forward: Callable[[PartialCall], Judgement],
    gradient: Callable[[PartialCall], Judgement],
) -> tuple[PartialCall, Judgement] | None:
    """The first of them that is wrong, and its judgement, which says where."""
    for part in some:
        judgement = _judge_part(part, forward if part.mode is Mode.FORWARD else gradient)
        if judgement.verdict in FAILED:
            text = f"{part.where}: {judgement.message}" if judgement.message else part.where
            return part, replace(judgement, message=text)
    return None


def _judge_part(part: PartialCall, judge: Callable[[PartialCall], Judgement]) -> Judgement:
    reply = part.reply
    if reply.error or reply.failed:
        return Judgement(reply.cause if reply.error else Verdict.ERROR, reply.error or reply.failed)
    if reply.declined:
        return Judgement(Verdict.WRONG_GRADIENT, reply.declined)
    return describe_changed_input(reply, part.asked) or _judge_sharing(part) or judge(part)


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


def find_lost_gradients(reference: Reference, ask: CallFn, asked: ReferenceReply) -> Judgement | None:
    """What is wrong with gradients of one output alone; None where nothing is, or one output is all there is.

    Of candidates that autograd goes through: who gives a vjp is given all cotangents.
    """
    request = asked.request
    used = [i for i, g in enumerate(request.cotangents) if g is not None]
    for i in used[:_MAX_OUTPUTS_ALONE] if len(used) > 1 else ():
        one = replace(request, cotangents=tuple(g if j == i else None for j, g in enumerate(request.cotangents)))
        own, reply = reference.call_native(one), ask(one)
        if own.error or own.failed or own.declined:
            continue
        where = f"where y{i} is the only output that is used"
        if said := reply.error or reply.failed or reply.declined:
            return Judgement(Verdict.WRONG_GRADIENT, f"{where}: {said}")
        for t, d, w in zip(request.tensors, reply.gradients, own.gradients, strict=True):
            if w is not None and not is_near(w, d or _make_zeros(w), _LOST_GRADIENT_SHARE):
                return Judgement(Verdict.WRONG_GRADIENT, f"{where}, the gradient of {t.name} is another")
    return None


def _make_zeros(like: ReplyTensor) -> ReplyTensor:
    return replace(like, values=like.values * 0)


def judge_as_one(ask: CallFn, asked: ReferenceReply, known: Truth, one: tuple[int, ...]) -> Judgement | None:
    """What is wrong with the gradients where the tensors at `one`, which `asked` has apart, are a single one."""
    whole = [i for i in one if asked.request.needs[i] and known.gradients[i] is not None]
    if set(whole) != set(one):
        return None
    apart = ask(asked.request)
    if apart.error or fails(judge(asked, known, apart)):
        return None
    request = as_one(asked.request, one)
    reply = ask(request)
    if reply.error:
        return Judgement(reply.cause, reply.error)
    judgement = judge_gradients(replace(asked, request=request), _sum_gradients(known, one), reply)
    return judgement if judgement.verdict in FAILED else None


def as_one(request: CallRequest, one: tuple[int, ...]) -> CallRequest:
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
    """WRONG_GRADIENT where the gradients of parts of a cotangent do not sum to the whole's."""
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
    """Of two gradients, of which None is 0."""
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
