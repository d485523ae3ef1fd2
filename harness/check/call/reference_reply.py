"""What the reference does in the candidate's dtype: outputs, what it updates, what it differentiates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor
from opproof.harness.check.call.reference import Native
from opproof.harness.check.contract import Precision, is_part_of, list_precisions
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor, is_float8, kind_of, layout_of_cotangents
from opproof.harness.reference.torch.evaluate import TorchQuestion


@dataclass(frozen=True)
class ReferenceReply:
    """The request to put to a candidate, and what has to come: `reply` is PyTorch's own, in the same dtypes."""

    request: CallRequest
    reply: Reply
    outputs: tuple[ReplyTensor, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the outputs, and of the tensors that the operation updates as they are after the call."""
        given, after = self.request.tensors, self.request.after
        own = len(self.outputs) - len(after)
        return (*(f"y{i}" for i in range(own)), *(f"{given[i].name} after the call" for i in after))

    def make_question(self, outputs: Callable[..., Sequence[Any]], compute: Precision) -> TorchQuestion:
        """The question that `outputs`, the reference in float64, answers under noise."""
        request = self.request
        return TorchQuestion(
            outputs,
            tuple(np.asarray(t.values) for t in request.tensors),
            request.needs or (False,) * len(request.tensors),
            tuple(kind_of(y.dtype) for y in self.outputs),
            list_kinds(request.tensors),
            request.cotangents,
            list_precisions(compute, (*self.names, *(t.name for t in request.tensors))),
            request.seed,
            self.reply.draws,
        )


def ask_reference(
    reference: Native, tensors: tuple[CallTensor, ...], seed: int, gradients: bool, rest: tuple[Any, ...] | None = None,
    constants: Iterable[str] = (),
) -> ReferenceReply | str:  # fmt: skip
    """The facts, or why the reference does not accept these tensors; `rest`: other arguments beside them.

    `constants`: arguments that by contract never get a gradient.
    """
    plain = tuple(replace(t, layout=CONTIGUOUS) for t in tensors)
    first = reference.call_native(CallRequest(plain, seed=seed, rest=rest))
    if first.error:
        return first.error
    after = first.changed
    if not first.outputs and not after:
        return "it returns no tensor"
    # What is updated in place has a place for each of its elements: PyTorch itself refuses others.
    once = {i for i in after if tensors[i].layout == "broadcast"}
    tensors = tuple(replace(t, layout=CONTIGUOUS) if i in once else t for i, t in enumerate(tensors))
    request = CallRequest(plain, after=after, seed=seed, rest=rest)
    if after:
        first = reference.call_native(request)
    if first.draws and any(t.layout != CONTIGUOUS for t in tensors):
        laid = reference.call_native(replace(request, tensors=tensors))
        if not _has_same_draws(laid.draws, first.draws):
            return "it draws other random numbers in another layout"
    layout = layout_of_cotangents(tensors)
    own = first.outputs[: len(first.outputs) - len(after)]
    cotangents = (
        *(None if y.shares in after else g for y, g in zip(own, _draw_cotangents(own, seed, layout), strict=True)),
        *(None for _ in after),
    )
    each = enumerate(tensors)
    left = {*after, *(i for i, t in enumerate(tensors) if any(is_part_of(t.name, name) for name in constants))}
    needs = tuple(is_differentiable(t.kind) and not t.buffer and not t.marks and i not in left for i, t in each)
    asked = replace(request, cotangents=cotangents, needs=needs)
    if gradients and any(asked.needs) and any(g is not None for g in asked.cotangents):
        reply = reference.call_native(asked)
        if reply.error or reply.declined or reply.failed:  # of some input it may have none, as of running statistics
            asked = replace(asked, needs=_find_differentiated(reference, asked))
            reply = reference.call_native(asked) if any(asked.needs) else reply
        if (quiet := _but_of_constants(asked, own, layout)) is not None:
            alike = reference.call_native(quiet)
            if alike.gradients and _count_nans(alike) == _count_nans(reply):
                asked, reply = quiet, alike
        needs = tuple(d is not None for d in reply.gradients)
        answers = any(needs) and not (reply.error or reply.declined or reply.failed)
        if answers and not _has_update_with_gradient(reply, tensors, after):
            return ReferenceReply(replace(asked, tensors=tensors, needs=needs, layout=layout), reply, first.outputs)
    return ReferenceReply(replace(request, tensors=tensors), first, first.outputs)


def _has_update_with_gradient(reply: Reply, tensors: Sequence[CallTensor], after: Sequence[int]) -> bool:
    """Whether a tensor is updated by what has gradients, an optimiser's or a cache: no kernel has them there.

    Statistics that are taken out of the graph, and a module's buffers, are not.
    """
    left = reply.outputs[len(reply.outputs) - len(after) :]
    return any(y.differentiable and not tensors[i].buffer for i, y in zip(after, left, strict=True))


def is_differentiable(kind: str) -> bool:
    """Whether gradients are asked for in a float dtype of this name of ours: in 8 bits nobody has any."""
    return bool(kind) and not is_float8(kind)


def _has_same_draws(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two evaluations drew the same random numbers."""
    import torch

    return len(a) == len(b) and all(
        x.name == y.name and len(x.values) == len(y.values) and all(map(torch.equal, x.values, y.values))
        for x, y in zip(a, b, strict=True)
    )


def _find_differentiated(reference: Native, asked: CallRequest) -> tuple[bool, ...]:
    count = len(asked.needs)
    alone = [
        reference.call_native(replace(asked, needs=tuple(i == j for j in range(count))))
        if need
        else Reply(error="no float")
        for i, need in enumerate(asked.needs)
    ]
    return tuple(not (r.error or r.declined or r.failed) for r in alone)


def _but_of_constants(asked: CallRequest, own: Sequence[ReplyTensor], layout: str) -> CallRequest | None:
    """The request with a cotangent of 0 wherever the reference answers -inf; None where it does so nowhere.

    What a sampler or a mask sets to -inf is a constant. Autograd sends its cotangent on through the normalisation all
    the same, where a kernel's backward does not look at it; nobody who follows has a gradient there but 0. It may not
    make NaN of a gradient, as of a logarithm at 0.
    """
    constant = [np.isneginf(y.values) for y in own]
    if not any(c.any() for c in constant):
        return None
    if layout == "broadcast":
        constant = [np.broadcast_to(c.any(0), c.shape) if c.ndim else c for c in constant]
    masked = (g if g is None else np.where(c, 0, g) for g, c in zip(asked.cotangents, constant, strict=False))
    return replace(asked, cotangents=(*masked, *asked.cotangents[len(own) :]))


def _count_nans(reply: Reply) -> int:
    return sum(int(np.isnan(d.values).sum()) for d in reply.gradients if d is not None)


def _draw_cotangents(outputs: Sequence[ReplyTensor], seed: int, layout: str) -> tuple[Array | None, ...]:
    """Normal numbers, rounded to the dtype of each output of floats; equal along the first axis where it is stretched.

    What follows a kernel gives its backward gradients in any layout: those of a sum have strides of 0.
    """
    rng = np.random.default_rng([seed, 4])

    def drawn(y: ReplyTensor) -> Array:
        g = np.asarray(round_to(rng.standard_normal(y.values.shape), DTYPES[kind_of(y.dtype)]))
        return np.array(np.broadcast_to(g[:1], g.shape)) if layout == "broadcast" and g.ndim else g

    return tuple(drawn(y) if is_differentiable(kind_of(y.dtype)) else None for y in outputs)


def list_kinds(tensors: Sequence[CallTensor]) -> tuple[str, ...]:
    """Our names of the float dtypes of tensors, "" of those that hold none; of one number, that in which it is used.

    A number of float64 beside tensors of a smaller dtype widens nothing: PyTorch computes in theirs, its gradient too.
    """
    widest = max((t.kind for t in tensors if t.kind and t.shape), key=lambda k: DTYPES[k].digits, default="")
    return tuple(widest if widest and t.kind == "f64" and not t.shape else t.kind for t in tensors)
