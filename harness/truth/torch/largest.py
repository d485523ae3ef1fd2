"""logsumexp by autograd through x - amax(x): what the largest element gets is 1 - sum(shares), all of it roundoff.

PyTorch's own has a backward of its own, so that no operation can be answered otherwise: its result goes on with a part
that is 0, and whose gradient is that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic, Way
from opproof.harness.truth.torch.functions import functions
from opproof.harness.truth.torch.sums import axes_of

#: What rounding a tensor changes.
Roundoff = Callable[[Arithmetic, Callable[[], Any]], Any]


def through_largest(noise: Arithmetic, roundoff: Roundoff) -> AbstractContextManager[Any]:
    """A block in which logsumexp has it, where other ways are measured."""
    if noise.exact or noise.way is not Way.OTHER:
        return nullcontext()
    torch = noise.torch
    named = (torch.logsumexp, torch.Tensor.logsumexp)

    def answered(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        # Under vmap and grad of torch.func there is no such part: shares of theirs have the noise of the formula.
        if func not in named or not y.requires_grad or torch._C._functorch.peek_interpreter_stack() is not None:
            return y
        x, dim, keepdim = _along(*args, **kwargs)
        sent = lambda x, y, g: _sent(noise, roundoff, x, y, g, dim, keepdim)  # noqa: E731 - of the part's own tensors
        return y + _part().apply(x, y.detach(), sent)

    return functions(answered)


@functools.cache
def _part() -> Any:
    """The class of a part that is 0, whose gradient is sent on by a function of x, y and its cotangent."""
    import torch

    class Part(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, sent: Callable[[Any, Any, Any], Any]) -> Any:
            ctx.save_for_backward(x, y)
            ctx.sent = sent
            return _plain(lambda: torch.zeros_like(y))

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            return _plain(lambda: ctx.sent(x, y, g)), None, None

    return Part


def _along(input: Any, dim: Any, keepdim: bool = False, **_: Any) -> tuple[Any, Any, bool]:  # noqa: A002 - PyTorch's name
    return input, dim, keepdim


def _sent(noise: Arithmetic, roundoff: Roundoff, x: Any, y: Any, g: Any, dim: Any, keepdim: bool) -> Any:
    """The roundoffs of a row, at its largest element."""
    torch = noise.torch
    axes = sorted(axes_of(x, dim)) if x.dim() else []
    for a in axes if not keepdim else ():
        y, g = y.unsqueeze(a), g.unsqueeze(a)
    shares = (x.detach() - y).exp()
    off = roundoff(noise, lambda: g * shares).sum(axes, keepdim=True) + roundoff(noise, lambda: g)
    largest = shares == shares.amax(axes, keepdim=True)
    return torch.where(largest, off, torch.zeros_like(off))


def _plain(made: Callable[[], Any]) -> Any:
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        return made()
