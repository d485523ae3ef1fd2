"""Gradients where one output alone is used: nothing comes in for the others, and what was made for both may be lost."""

from __future__ import annotations

from dataclasses import replace

from opproof.core.verdicts import Verdict
from opproof.harness.check.sides.alike import near
from opproof.harness.check.sides.exchange import Answered
from opproof.harness.check.sides.facts import Facts
from opproof.harness.check.sides.reference import Ask, Reference
from opproof.harness.judge.judgement import Judgement

#: Outputs that are used alone, each once.
_OUTPUTS = 2
#: Of the largest gradient: beside PyTorch's own, in its own dtype, only what is lost is told.
_LOST = 0.25


def lost(reference: Reference, ask: Ask, asked: Facts) -> Judgement | None:
    """What is wrong with gradients of one output alone; None where nothing is, or one output is all there is.

    Of candidates that autograd goes through: who gives a vjp is given all cotangents.
    """
    request = asked.request
    used = [i for i, g in enumerate(request.cotangents) if g is not None]
    for i in used[:_OUTPUTS] if len(used) > 1 else ():
        one = replace(request, cotangents=tuple(g if j == i else None for j, g in enumerate(request.cotangents)))
        own, reply = reference.native(one), ask(one)
        if own.error or own.failed or own.declined:
            continue
        where = f"where y{i} is the only output that is used"
        if said := reply.error or reply.failed or reply.declined:
            return Judgement(Verdict.WRONG_GRADIENT, f"{where}: {said}")
        for t, d, w in zip(request.tensors, reply.gradients, own.gradients, strict=True):
            if w is not None and not near(w, d or _zeros(w), _LOST):
                return Judgement(Verdict.WRONG_GRADIENT, f"{where}, the gradient of {t.name} is another")
    return None


def _zeros(like: Answered) -> Answered:
    return replace(like, values=like.values * 0)
