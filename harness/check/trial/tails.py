"""One tensor with another last number: who keeps an answer by the address and the first numbers, answers as before.

So do caches of packed weights that look at a few numbers of them, which grow stale when a row at the end is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.alike import alike
from opproof.harness.check.sides.exchange import Answered, Reply, Request
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.tensors import CONTIGUOUS, Tensor
from opproof.harness.check.trial.in_time import begun_in
from opproof.harness.check.trial.judge import judge_outputs
from opproof.harness.check.trial.off import own
from opproof.harness.check.trial.outcome import Right, Tried, by_candidate, with_failure
from opproof.harness.judge.judgement import Judgement
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import FAILED, Verdict

#: So many tensors are changed, each alone.
_TENSORS = 4


def by_beginnings(first: Right, ask: Ask, reference: Native, seconds: float) -> Tried | None:
    """NOT_REPEATABLE where one of its tensors may end otherwise, and the answer is still of before.

    It stays, or it is another one than after a call with all tensors of another draw.
    """
    for i, request, changed in _endings(first, reference, seconds):
        before, reply = ask(request), ask(changed)
        if reply.error:
            continue
        where = f"where only the last number of {request.tensors[i].name} is another"
        if alike(reply.outputs, before.outputs):
            return _kept(first, reply, f"the answer stays {where}")
        ask(replace(request, tensors=first.variant.other))
        if _is_off(first, reply, ask(changed)):
            return _kept(first, reply, f"{where}, the answer is another one than after a call with other numbers")
    return None


def by_version(first: Right, ask: Ask, reference: Native, seconds: float) -> Iterator[Tried]:
    """A variant, declined with what is told, where the answer stays once a tensor is written through `.data`.

    That leaves its version as it was, by which PyTorch tells whether a tensor was written: who goes by it is no worse.
    """
    for i, request, changed in _endings(first, reference, seconds):
        before, reply = ask(request), ask(replace(changed, unseen=True))
        if not reply.error and alike(reply.outputs, before.outputs):
            name = f"{request.tensors[i].name} written through .data"
            variant = Variant(name, "unseen", CONTIGUOUS, changed.tensors, request.tensors)
            yield by_candidate(variant, "the answer stays: it is kept by the version of a tensor", news=True)


def _endings(first: Right, reference: Native, seconds: float) -> Iterator[tuple[int, Request, Request]]:
    """Each tensor's place, and what was asked, as given and with another last number there that matters."""
    request = first.asked.request.plain
    if request.after:
        return
    floats = [i for i, t in enumerate(request.tensors) if t.kind and not t.marks and t.values.size > 1]
    for i in begun_in(seconds, floats[:_TENSORS]):
        changed = _ending_otherwise(request, i, first.variant.other[i])
        wanted = reference.native(changed)
        if not wanted.error and _is_other(first, wanted.outputs):
            yield i, request, changed


def _is_off(first: Right, reply: Reply, again: Reply) -> bool:
    """Whether two replies to one request are apart by more than rounding."""
    if again.error:
        return False
    return judge_outputs(first.asked, own(replace(first, reply=again)), reply).verdict in FAILED


def _kept(first: Right, reply: Reply, what: str) -> Tried:
    text = f"{what}: something was kept that does not hold all that it depends on"
    return with_failure(first, reply, Mode.FORWARD, Judgement(Verdict.NOT_REPEATABLE, text))


def _ending_otherwise(request: Request, i: int, other: Tensor) -> Request:
    """The request with another last number in one tensor, of another draw."""
    t = request.tensors[i]
    values = np.array(t.values)
    values.reshape(-1)[-1] = other.values.reshape(-1)[-1] if other.values.shape == t.values.shape else 0.0
    return request.holding(i, values)


def _is_other(first: Right, outputs: Sequence[Answered]) -> bool:
    """Whether outputs are none that the inputs as given may have, by more than rounding."""
    shapes = [[y.values.shape for y in some] for some in (outputs, first.reply.outputs)]
    if shapes[0] != shapes[1]:
        return False
    wanted = replace(first.reply, outputs=tuple(outputs))
    before = own(replace(first, reply=first.asked.reply))  # a reference in 16 bits is off by more than its truth allows
    return all(judge_outputs(first.asked, known, wanted).verdict in FAILED for known in (first.truth, before))
