"""mul: a b, elementwise with NumPy broadcasting.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g b and db = g a, each summed over the axes along which its tensor was broadcast.
Source: NumPy broadcasting rules; the lesson of aidge's MulImpl backward ([1,3] x [4,3]).
PyTorch: torch.mul. ONNX: Mul. ggml: ggml_mul (b repeats into a). aidge: Mul.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

ANALYTIC = True
MULTILINEAR = True
TRAITS = ("pointwise", "broadcasts")
PAIRS = True
SIGNED_ZEROS = True
KINDS = ("float8", "signed", "unsigned")


def forward(a: Array, b: Array) -> Array:
    return a * b


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return unbroadcast(g * b, a.shape), unbroadcast(g * a, b.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.mul(a, b)
