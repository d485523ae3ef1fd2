"""The same call with fewer gradients asked for: none, as at inference, and of one tensor alone.

A fused kernel has another path for either, which no call that asks for all of them ever takes. And the same with
another call before its backward, as of a layer that a network has twice, or another backward: what a forward saves
is its own, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress

import numpy as np

from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.check.sides.alike import alike
from opproof.harness.check.sides.exchange import Before, Reply, Request
from opproof.harness.check.sides.facts import Facts
from opproof.harness.check.sides.reference import Ask
from opproof.harness.check.trial.faults import aliased, input_changed
from opproof.harness.judge.judgement import Judgement

#: Tensors whose gradient is asked for alone, or left out alone; of two these are the same.
_ALONE, _TWO = 4, 2
#: Of so many at most every choice is asked for, of more so many that are drawn.
_CHOICE, _DRAWN = 6, 40


@dataclass(frozen=True)
class Part:
    """One such call that was answered otherwise than the whole."""

    mode: Mode
    asked: Facts
    reply: Reply
    where: str


def parts(ask: Ask, asked: Facts, whole: Reply, *, alone: bool, between: bool) -> list[Part]:
    """The calls whose answers have other bits than `whole`; of one tensor alone, and without one, where `alone`.

    `between`: with another call before the backward, or another backward.
    """
    request = asked.request
    if not request.cotangents or whole.declined or whole.failed:
        return []
    calls = [(Mode.FORWARD, request.plain, "where no gradient is asked for")]
    differentiable = [i for i, d in enumerate(whole.gradients) if d is not None and request.needs[i]]
    if alone and len(differentiable) > 1:
        for i in differentiable[:_ALONE]:
            needs = tuple(i == j for j in range(len(request.needs)))
            where = f"where the gradient of {request.tensors[i].name} alone is asked for"
            calls.append((Mode.GRADIENT, replace(request, needs=needs), where))
        for i in differentiable[:_ALONE] if len(differentiable) > _TWO else ():
            needs = tuple(need and i != j for j, need in enumerate(request.needs))
            where = f"where all gradients but that of {request.tensors[i].name} are asked for"
            calls.append((Mode.GRADIENT, replace(request, needs=needs), where))
    if alone and _TWO < len(differentiable) <= _CHOICE:
        for count in range(_TWO, len(differentiable) - 1):
            calls += [(Mode.GRADIENT, *_of_these(request, chosen)) for chosen in combinations(differentiable, count)]
    if alone and len(differentiable) > _CHOICE:
        calls += [(Mode.GRADIENT, *_of_these(request, chosen)) for chosen in _some_of(differentiable)]
    if between and differentiable and not request.after:
        calls += [
            (Mode.GRADIENT, replace(request, before=before), f"where {before} comes before its backward")
            for before in (Before.CALL, Before.BACKWARD)
        ]
    found = []
    for mode, one, where in calls:
        reply = ask(one)
        if one.before is Before.BACKWARD and reply.failed:  # it says that it gives one alone
            continue
        narrowed = Part(mode, replace(asked, request=one, reply=replace(asked.reply, outputs=())), reply, where)
        odd = reply.error or reply.failed or reply.declined or input_changed(reply, asked) or _shared(narrowed)
        if odd or not _as_in(mode, reply, whole, one.needs):
            found.append(narrowed)
    return found


def _some_of(all_: Sequence[int]) -> Iterator[list[int]]:
    """Drawn choices of two at least: each with and without any three others in most of them."""
    rng = np.random.default_rng(len(all_))
    for taken in rng.random((_DRAWN, len(all_))) < rng.choice((0.3, 0.5, 0.7), (_DRAWN, 1)):
        if _TWO <= taken.sum() < len(all_):
            yield list(compress(all_, taken))


def _of_these(request: Request, chosen: Sequence[int]) -> tuple[Request, str]:
    names = " and ".join(request.tensors[i].name for i in chosen)
    needs = tuple(i in chosen for i in range(len(request.needs)))
    return replace(request, needs=needs), f"where the gradients of {names} alone are asked for"


def judged(
    some: Sequence[Part], forward: Callable[[Part], Judgement], gradient: Callable[[Part], Judgement]
) -> tuple[Part, Judgement] | None:
    """The first of them that is wrong, and its judgement, which says where."""
    for part in some:
        judgement = _judged(part, forward if part.mode is Mode.FORWARD else gradient)
        if judgement.verdict in FAILED:
            text = f"{part.where}: {judgement.message}" if judgement.message else part.where
            return part, replace(judgement, message=text)
    return None


def _judged(part: Part, judge: Callable[[Part], Judgement]) -> Judgement:
    reply = part.reply
    if reply.error or reply.failed:
        return Judgement(reply.cause if reply.error else Verdict.ERROR, reply.error or reply.failed)
    if reply.declined:
        return Judgement(Verdict.WRONG_GRADIENT, reply.declined)
    return input_changed(reply, part.asked) or _shared(part) or judge(part)


def _shared(part: Part) -> Judgement | None:
    """What is said of outputs that are part of an input here, which they are not as a whole."""
    return aliased(part.reply.outputs, part.asked.outputs, [t.name for t in part.asked.request.tensors])


def _as_in(mode: Mode, reply: Reply, whole: Reply, needs: Sequence[bool]) -> bool:
    """Whether what was asked for has the bits that it has in the answer to all."""
    if mode is Mode.FORWARD:
        return alike(reply.outputs, whole.outputs)
    some, all_ = ([d for d, need in zip(r.gradients, needs, strict=True) if need] for r in (reply, whole))
    return alike(some, all_)
