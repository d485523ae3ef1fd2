"""add: a + b, elementwise with NumPy broadcasting.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g and db = g, each summed over the axes along which its tensor was broadcast.
Source: NumPy broadcasting rules.
PyTorch: torch.add. ONNX: Add. ggml: ggml_add (b repeats into a).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

ANALYTIC = True
MULTILINEAR = True
TRIVIAL = {"vjp": ("copy",)}
TRAITS = ("pointwise", "broadcasts")
PAIRS = True
SIGNED_ZEROS = True
KINDS = ("float8", "signed", "unsigned")
NEIGHBOURS = ("sub",)


def forward(a: Array, b: Array) -> Array:
    return a + b


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return unbroadcast(g, a.shape), unbroadcast(g, b.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.add(a, b)
