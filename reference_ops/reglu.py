"""reglu: max(a, 0) b, a gated linear unit.

Shapes: x (..., 2 n) holds a and b, b first where swapped; or x (..., n) is a and gate (..., n) is b. y (..., n).
Gradient: da = g b relu'(a) and db = g relu(a), joined where x holds both.
Kinks: a = 0.
Source: Shazeer, GLU Variants Improve Transformer (2020), equation 6.
PyTorch: none (torch.relu and torch.mul). ONNX: none. ggml: ggml_reglu, ggml_reglu_swapped, ggml_reglu_split.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import relu
from opproof.reference_ops._gated import chunks, gradients, halves

SIGNATURE = "(...,2*n) | (...,n),(...,n)"
TRAITS = ("pointwise",)


def forward(x: Array, gate: Array | None = None, *, swapped: bool = False) -> Array:
    a, b = halves(x, gate, swapped)
    return relu.forward(a) * b


def vjp(
    g: Array, y: Array, x: Array, gate: Array | None = None, *, swapped: bool = False
) -> Array | tuple[Array, Array]:
    a, b = halves(x, gate, swapped)
    h = relu.forward(a)
    return gradients(relu.vjp(g * b, h, a), g * h, gate, swapped)


def kinks(x: Array, gate: Array | None = None, *, swapped: bool = False) -> Array:
    a, b = halves(x, gate, swapped)
    distances = gradients(np.abs(a), np.full_like(b, np.inf), gate, swapped)
    return distances[0] if isinstance(distances, tuple) else distances


def torch(torch: Any, x: Any, gate: Any = None, *, swapped: bool = False) -> Any:
    a, b = chunks(torch, x, gate, swapped)
    return (torch.relu(a) * b).to(x.dtype)
