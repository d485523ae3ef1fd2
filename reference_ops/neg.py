"""neg: -x.

Shapes: x any; y as x.
Gradient: -g.
Source: elementary.
PyTorch: torch.neg. ONNX: Neg. ggml: ggml_neg.
"""

from typing import Any

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)
SIGNED_ZEROS = True
KINDS = ("float8", "signed")


def forward(x: Array) -> Array:
    return -x


def vjp(g: Array, y: Array, x: Array) -> Array:
    return -g


def torch(torch: Any, x: Any) -> Any:
    return torch.neg(x)
