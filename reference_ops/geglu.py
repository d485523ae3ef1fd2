"""geglu: gelu(a) b, gelu by its tanh approximation.

Shapes: x (..., 2 n) holds a and b, b first where swapped; or x (..., n) is a and gate (..., n) is b. y (..., n).
Gradient: da = g b gelu'(a) and db = g gelu(a), joined where x holds both.
Source: Shazeer, GLU Variants Improve Transformer (2020), equation 6.
PyTorch: none (torch.nn.functional.gelu and torch.mul). ONNX: none.
ggml: ggml_geglu, ggml_geglu_swapped, ggml_geglu_split.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import gelu
from opproof.reference_ops._gated import chunks, gradients, halves

SIGNATURE = "(...,2*n) | (...,n),(...,n)"
ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("geglu_erf", "geglu_quick")


def forward(x: Array, gate: Array | None = None, *, swapped: bool = False) -> Array:
    a, b = halves(x, gate, swapped)
    return gelu.forward(a, approximate="tanh") * b


def vjp(
    g: Array, y: Array, x: Array, gate: Array | None = None, *, swapped: bool = False
) -> Array | tuple[Array, Array]:
    a, b = halves(x, gate, swapped)
    h = gelu.forward(a, approximate="tanh")
    return gradients(gelu.vjp(g * b, h, a, approximate="tanh"), g * h, gate, swapped)


def torch(torch: Any, x: Any, gate: Any = None, *, swapped: bool = False) -> Any:
    a, b = chunks(torch, x, gate, swapped)
    return (torch.nn.functional.gelu(a, approximate="tanh") * b).to(x.dtype)
