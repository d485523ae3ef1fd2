"""scale: s x + b, with numbers s and b.

Shapes: x any; y as x.
Gradient: s g.
Source: elementary.
PyTorch: none (torch.mul and torch.add with numbers). ONNX: none. ggml: ggml_scale, ggml_scale_bias.
"""

from typing import Any

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)


def forward(x: Array, *, s: float = 1.0, b: float = 0.0) -> Array:
    return s * x + b


def vjp(g: Array, y: Array, x: Array, *, s: float = 1.0, b: float = 0.0) -> Array:
    return s * g


def torch(torch: Any, x: Any, *, s: float = 1.0, b: float = 0.0) -> Any:
    # In float32, as a kernel of one pass computes: 16-bit intermediates would be rounded.
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * s + b).to(x.dtype)
