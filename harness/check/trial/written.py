"""Inputs that are written in place between a forward and its backward, where the reference does not keep them.

PyTorch raises where something that was saved by ctx.save_for_backward has been written since; what is kept beside it
gives a gradient at the new numbers, without a word. It is told and no failure: few callers write there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.alike import all_near
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.sides.settings import Setting
from opproof.harness.check.tensors import CONTIGUOUS
from opproof.harness.check.trial.outcome import Right, Tried, by_candidate

#: What is told of it.
_TOLD = "its gradients are others, and the reference's the same: what it keeps is not in ctx.save_for_backward"


def written_between(first: Right, ask: Ask, reference: Native) -> Iterator[Tried]:
    """A variant, declined with what is told, where the reference bears it and the candidate gives other gradients."""
    request = replace(first.asked.request, setting=Setting.WRITTEN)
    if not request.cotangents or request.after or first.asked.reply.draws:
        return
    wanted = reference.native(request)
    if wanted.error or wanted.failed or not all_near(wanted.gradients, first.asked.reply.gradients):
        return
    reply = ask(request)
    if not (reply.error or reply.failed or reply.declined) and not all_near(reply.gradients, first.reply.gradients):
        variant = Variant(str(Setting.WRITTEN), "written", CONTIGUOUS, request.tensors, request.tensors)
        yield by_candidate(variant, _TOLD, news=True)
