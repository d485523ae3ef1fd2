"""swiglu: a sigmoid(a) b.

Shapes: x (..., 2 n) holds a and b, b first where swapped; or x (..., n) is a and gate (..., n) is b. y (..., n).
Gradient: da = g b silu'(a) and db = g silu(a), joined where x holds both.
Source: Shazeer, GLU Variants Improve Transformer (2020), equation 6.
PyTorch: none (torch.nn.functional.silu and torch.mul). ONNX: none.
ggml: ggml_swiglu, ggml_swiglu_swapped, ggml_swiglu_split.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import silu
from opproof.reference_ops._gated import chunks, gradients, halves

SIGNATURE = "(...,2*n) | (...,n),(...,n)"
ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("geglu_quick",)


def forward(x: Array, gate: Array | None = None, *, swapped: bool = False) -> Array:
    a, b = halves(x, gate, swapped)
    return silu.forward(a) * b


def vjp(
    g: Array, y: Array, x: Array, gate: Array | None = None, *, swapped: bool = False
) -> Array | tuple[Array, Array]:
    a, b = halves(x, gate, swapped)
    h = silu.forward(a)
    return gradients(silu.vjp(g * b, h, a), g * h, gate, swapped)


def torch(torch: Any, x: Any, gate: Any = None, *, swapped: bool = False) -> Any:
    a, b = chunks(torch, x, gate, swapped)
    return (torch.nn.functional.silu(a) * b).to(x.dtype)
