"""What a module's buffers hold once it has been called: a stream's state, of which the first call meets zeros alone."""

from __future__ import annotations

from dataclasses import replace

from opproof.harness.check.sides.exchange import Request
from opproof.harness.check.sides.reference import Native
from opproof.harness.check.sides.subject import is_statistic
from opproof.harness.check.tensors import Tensor


def reached(reference: Native, tensors: tuple[Tensor, ...], seed: int) -> tuple[Tensor, ...]:
    """The tensors, with the buffers that the reference writes into as a call leaves them, but a norm's statistics.

    As they are where nothing is written, or the reference does not take another call then.
    """
    if not any(t.buffer and not is_statistic(t) for t in tensors):
        return tensors
    request = Request(tensors, seed=seed)
    reply = reference.native(request)
    after = {i for i in reply.changed if tensors[i].buffer and not is_statistic(tensors[i])}
    if reply.error or not after:
        return tensors
    later = tuple(replace(t, values=reply.left[i]) if i in after else t for i, t in enumerate(tensors))
    return tensors if reference.native(replace(request, tensors=later)).error else later
