"""square: x².

Shapes: x any; y as x.
Gradient: 2 x g.
Source: elementary.
PyTorch: torch.square. ONNX: none (Mul of x with itself). ggml: ggml_sqr.
"""

from typing import Any

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)
KINDS = ("signed", "unsigned")


def forward(x: Array) -> Array:
    return x * x


def vjp(g: Array, y: Array, x: Array) -> Array:
    return 2 * x * g


def torch(torch: Any, x: Any) -> Any:
    return torch.square(x)
