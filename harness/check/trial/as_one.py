"""Gradients where one tensor stands in the place of several, as of self attention: the sum of theirs.

A kernel that knows its tensor again takes a short way, and may count it once. Only a candidate that is right for equal
tensors is asked: what is wrong then comes of their being one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from opproof.core.verdicts import FAILED
from opproof.harness.check.sides.exchange import Request
from opproof.harness.check.sides.facts import Facts
from opproof.harness.check.sides.reference import Ask
from opproof.harness.check.trial.judge import fails, judge, judge_gradients
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.expected import Expected
from opproof.harness.reference.torch.evaluate import Truth


def wrong_as_one(ask: Ask, asked: Facts, known: Truth, one: tuple[int, ...]) -> Judgement | None:
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
    judgement = judge_gradients(replace(asked, request=request), _summed(known, one), reply)
    return judgement if judgement.verdict in FAILED else None


def as_one(request: Request, one: tuple[int, ...]) -> Request:
    """The call with the first in the place of all, whose gradient alone is asked for."""
    needs = tuple(need and (i not in one or i == min(one)) for i, need in enumerate(request.needs))
    return replace(request, one=one, needs=needs)


def _summed(known: Truth, one: tuple[int, ...]) -> Truth:
    """What is expected then: each part rounded as it is alone, and their sum once more for every part."""
    parts = [part for i in one if (part := known.gradients[i]) is not None]
    values = np.sum([part.values for part in parts], axis=0)
    spread = np.sqrt(np.sum([part.scale**2 for part in parts], axis=0))
    whole = Expected(values, np.asarray(spread + np.sum([np.abs(part.values) for part in parts], axis=0)))
    return replace(known, gradients=tuple(whole if i == min(one) else g for i, g in enumerate(known.gradients)))
