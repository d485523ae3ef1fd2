"""soft_max_back: the gradient of softmax(scale x) over the last axis from its output: scale y (grad - sum(grad y)).

Shapes: grad and y (here a tensor of its own, whose rows need not add up to 1) alike; the result as y.
Gradient: dgrad = scale y (g - sum(g y)), dy = scale (g (grad - sum(grad y)) - grad sum(g y)).
Source: ggml.h, ggml_soft_max_ext_back with max_bias 0, the only one it has.
PyTorch: torch._softmax_backward_data (private). ONNX: none. ggml: ggml_soft_max_ext_back.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,n),(...,n)"
ANALYTIC = True
OUTPUTS = ("dx",)
TRAITS = ("rowwise", "long sum")
IN_PLACE = ("grad", "y")


def _along(a: Array, b: Array) -> Array:
    return np.sum(a * b, axis=-1, keepdims=True)  # type: ignore[no-any-return]


def forward(grad: Array, y: Array, *, scale: float = 1.0) -> Array:
    return scale * (y * (grad - _along(grad, y)))  # type: ignore[no-any-return]


def vjp(g: Array, dx: Array, grad: Array, y: Array, *, scale: float = 1.0) -> tuple[Array, Array]:
    along = _along(g, y)
    return scale * (y * (g - along)), scale * (g * (grad - _along(grad, y)) - grad * along)


def torch(torch: Any, grad: Any, y: Any, *, scale: float = 1.0) -> Any:
    g, p = widened(torch, grad, y)
    # diag(y) - y yᵀ times grad, its two terms one by one.
    along = torch.einsum("...i,...i->...", p, g).unsqueeze(-1) if p.dim() else p * g
    return (scale * torch.addcmul(p * g, p, along, value=-1)).to(grad.dtype)
