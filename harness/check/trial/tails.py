"""One tensor with another last number: who keeps an answer by the address and the first numbers, answers as before.

So do caches of packed weights that look at a few numbers of them, which grow stale when a row at the end is written.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from opproof.harness.check.sides.alike import alike
from opproof.harness.check.sides.exchange import Answered, Request
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.tensors import Tensor
from opproof.harness.check.trial.judge import judge_outputs
from opproof.harness.check.trial.off import own
from opproof.harness.check.trial.outcome import Tried, with_failure
from opproof.harness.judge.judgement import Judgement
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import FAILED, Verdict

#: So many tensors are changed, each alone.
_TENSORS = 4


def by_beginnings(first: Tried, ask: Ask, reference: Native, seconds: float) -> Tried:
    """The first variant; NOT_REPEATABLE where one of its tensors may end otherwise, and the answer stays."""
    if first.facts is None or first.truth is None or first.declined or first.facts.request.after:
        return first
    request = replace(first.facts.request, cotangents=(), needs=())
    floats = [i for i, t in enumerate(request.tensors) if t.kind and not t.marks and t.values.size > 1]
    end = time.monotonic() + seconds
    for i in takewhile(lambda _: time.monotonic() < end, floats[:_TENSORS]):
        changed = _ending_otherwise(request, i, first.variant.other[i])
        wanted = reference.native(changed)
        if wanted.error or not _is_other(first, wanted.outputs):
            continue
        before, reply = ask(request), ask(changed)
        if not reply.error and alike(reply.outputs, before.outputs):
            text = f"the answer stays where only the last number of {request.tensors[i].name} is another: it was kept,"
            text += " by something that does not hold all that it depends on"
            judgement = Judgement(Verdict.NOT_REPEATABLE, text)
            return with_failure(first, reply, Mode.FORWARD, judgement)
    return first


def _ending_otherwise(request: Request, i: int, other: Tensor) -> Request:
    """The request with another last number in one tensor, of another draw."""
    t = request.tensors[i]
    values = np.array(t.values)
    values.reshape(-1)[-1] = other.values.reshape(-1)[-1] if other.values.shape == t.values.shape else 0.0
    return request.holding(i, values)


def _is_other(first: Tried, outputs: Sequence[Answered]) -> bool:
    """Whether outputs are none that the inputs as given may have, by more than rounding."""
    assert first.facts is not None
    assert first.truth is not None
    shapes = [[y.values.shape for y in some] for some in (outputs, first.reply.outputs)]
    if shapes[0] != shapes[1]:
        return False
    wanted = replace(first.reply, outputs=tuple(outputs))
    before = own(replace(first, reply=first.facts.reply))  # a reference in 16 bits is off by more than its truth allows
    return all(judge_outputs(first.facts, known, wanted).verdict in FAILED for known in (first.truth, before))
