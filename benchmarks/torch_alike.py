"""The PyTorch twins that compute otherwise than our references, written in the references' steps.

Where the noise of a twin is not that of the reference, one of the two may be wrong, or both are right and compute the
same in other steps. This is the experiment that tells: the same steps in PyTorch have the same noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from opproof.reference_ops._op import Op

Twin = Callable[..., Any]


def saved_elu(torch: Any, op: Op) -> Twin:
    """The backward from the saved y, which PyTorch takes where elu works in place."""
    function = getattr(torch.nn.functional, op.name)

    def twin(x: Any, **params: Any) -> Any:
        return function(x.clone(), **params, inplace=True)

    return twin


def shares(torch: Any, op: Op) -> Twin:
    """The backward of log_softmax by shares e / sum(e), not by exp(log_softmax)."""

    class LogSoftmax(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, axis: int) -> Any:
            ctx.save_for_backward(x)
            ctx.axis = axis
            return torch.log_softmax(x, axis)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            e = (x - x.amax(ctx.axis, keepdim=True)).exp()
            return g - e / e.sum(ctx.axis, keepdim=True) * g.sum(ctx.axis, keepdim=True), None

    def twin(x: Any, target: Any, *rest: Any, **params: Any) -> Any:
        if target.shape == x.shape or params.get("label_smoothing"):
            return op.torch(torch, x, target, *rest, **params) if op.torch else None
        logarithms = LogSoftmax.apply(x, min(1, x.dim() - 1))
        named = {k: v for k, v in params.items() if k != "label_smoothing"}
        return torch.nn.functional.nll_loss(logarithms, target, *rest, **named)

    return twin


def summed_exponentials(torch: Any, op: Op) -> Twin:
    """Logcumsumexp as the logarithm of a cumsum of exp(x - max)."""
    del torch, op

    def twin(x: Any, *, dim: int) -> Any:
        top = x.detach().amax(dim, keepdim=True) if x.dim() else x.detach()
        return (x - top).exp().cumsum(dim).log() + top

    return twin


def columns(torch: Any, op: Op) -> Twin:
    """The convolution as a product of matrices with the windows: its dx adds channels first, then windows."""
    del op

    def twin(x: Any, weight: Any, bias: Any = None, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
             groups: int = 1) -> Any:  # fmt: skip
        plain = torch.nn.functional.conv2d(x.detach(), weight.detach(), None, stride, padding, dilation, groups)
        cols = torch.nn.functional.unfold(x, weight.shape[2:], dilation, padding, stride)
        cols = cols.reshape(x.shape[0], groups, -1, cols.shape[-1])
        y = (weight.reshape(groups, weight.shape[0] // groups, -1) @ cols).reshape(plain.shape)
        return y if bias is None else y + bias.reshape(-1, 1, 1)

    return twin


class _Falling:
    """The base of rope's frequencies: its powers are powers of one step, each a tensor."""

    def __init__(self, torch: Any, base: float, dims: int) -> None:
        self.base, self.dims = base, dims
        self.step = torch.full((), -2 * math.log(base) / dims, dtype=torch.float64).exp()

    def __pow__(self, exponent: float) -> Any:
        return self.step ** float(round(-exponent * self.dims / 2))

    def __float__(self) -> float:
        return self.base


def rounded_frequencies(torch: Any, op: Op) -> Twin:
    """Rope with frequencies that are tensors, powers of the first."""

    def twin(*tensors: Any, **params: Any) -> Any:
        base = _Falling(torch, params.get("freq_base", 10000.0), params["n_dims"])
        return op.torch(torch, *tensors, **{**params, "freq_base": base}) if op.torch else None

    return twin


def saved_output(torch: Any, op: Op) -> Twin:
    """Attention whose backward takes sum(g y) of the saved output, as flash kernels do, PyTorch's own among them."""

    class Flash(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, q: Any, k: Any, v: Any, seen: Any, scale: float) -> Any:
            p = torch.softmax((q @ k.mT * scale).masked_fill(~seen, -math.inf), -1)
            y = p @ v
            ctx.save_for_backward(q, k, v, p, y)
            ctx.scale = scale
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            q, k, v, p, y = ctx.saved_tensors
            d = p * (g @ v.mT - (g * y).sum(-1, keepdim=True)) * ctx.scale
            return d @ k, d.mT @ q, p.mT @ g, None, None

    def attention(q: Any, k: Any, v: Any, seen: Any, *, scale: float | None, enable_gqa: bool) -> Any:
        del enable_gqa
        k, v = (x.repeat_interleave(q.shape[-3] // x.shape[-3], -3) for x in (k, v))
        return Flash.apply(q, k, v, seen, 1 / math.sqrt(q.shape[-1]) if scale is None else scale)

    functional = SimpleNamespace(**{**vars(torch.nn.functional), "scaled_dot_product_attention": attention})
    handed = SimpleNamespace(**{**vars(torch), "nn": SimpleNamespace(functional=functional)})

    def twin(*tensors: Any, **params: Any) -> Any:
        return op.torch(handed, *tensors, **params) if op.torch else None

    return twin


_SAVED = "the backward takes the saved y, PyTorch's exp(x) again, unless in place"
_STEP = "frequencies are powers of a rounded step, the twin's are Python's"
_OUTPUT = (
    "the backward takes the saved output, as PyTorch's own flash kernel, whose f32 is off by up to 7 units of its "
    "formula, and 1.6 of the reference's"
)
_COLUMNS = "dx adds channels, then windows; the rule has one sum of all terms; in f32 PyTorch is 1.5 times as far off"
_SHARES = "shares are e / sum(e), PyTorch's exp(log_softmax), in f32 off by 1.5 times as much"
_EXPONENTIALS = "the reference adds exponentials, PyTorch takes exp of logarithms"

#: By operator: what the two do otherwise, and the twin that does it as the reference.
ALIKE: dict[str, tuple[str, Callable[[Any, Op], Twin]]] = {
    **dict.fromkeys(("celu", "elu", "selu"), (_SAVED, saved_elu)),
    **dict.fromkeys(("rope", "rope_back", "rope_offset", "rope_set_rows"), (_STEP, rounded_frequencies)),
    **dict.fromkeys(("sliding_window_attention", "varlen_attention"), (_OUTPUT, saved_output)),
    "logcumsumexp": (_EXPONENTIALS, summed_exponentials),
    "conv2d": (_COLUMNS, columns),
    "cross_entropy": (_SHARES, shares),
}
