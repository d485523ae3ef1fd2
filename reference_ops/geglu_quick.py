"""geglu_quick: a sigmoid(1.702 a) b.

Shapes: x (..., 2 n) holds a and b, b first where swapped; or x (..., n) is a and gate (..., n) is b. y (..., n).
Gradient: da = g b gelu_quick'(a) and db = g gelu_quick(a), joined where x holds both.
Source: Shazeer, GLU Variants Improve Transformer (2020), equation 6.
PyTorch: none (torch primitives). ONNX: none. ggml: ggml_geglu_quick, ggml_geglu_quick_swapped, ggml_geglu_quick_split.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import gelu_quick
from opproof.reference_ops._gated import chunks, gradients, halves

SIGNATURE = "(...,2*n) | (...,n),(...,n)"
ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("geglu", "swiglu")


def forward(x: Array, gate: Array | None = None, *, swapped: bool = False) -> Array:
    a, b = halves(x, gate, swapped)
    return gelu_quick.forward(a) * b


def vjp(
    g: Array, y: Array, x: Array, gate: Array | None = None, *, swapped: bool = False
) -> Array | tuple[Array, Array]:
    a, b = halves(x, gate, swapped)
    h = gelu_quick.forward(a)
    return gradients(gelu_quick.vjp(g * b, h, a), g * h, gate, swapped)


def torch(torch: Any, x: Any, gate: Any = None, *, swapped: bool = False) -> Any:
    a, b = chunks(torch, x, gate, swapped)
    return (a * torch.sigmoid(1.702 * a) * b).to(x.dtype)
