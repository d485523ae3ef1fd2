"""swiglu_oai: a sigmoid(alpha a) (b + 1) with a = min(a, limit) and b = min(max(b, -limit), limit).

Shapes: x (..., 2 n) holds a and b, b first where swapped; or x (..., n) is a and gate (..., n) is b. y (..., n).
Gradient: with s = sigmoid(alpha a), da = g (b + 1) s (1 + alpha a (1 - s)) where a <= limit, else 0;
db = g a s where |b| <= limit, else 0; joined where x holds both.
Kinks: a = limit and |b| = limit.
Source: OpenAI, gpt-oss reference implementation (2025), swiglu; its halves alternate, here they follow each other.
PyTorch: none (torch primitives). ONNX: none. ggml: ggml_swiglu_oai (two tensors).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid
from opproof.reference_ops._gated import chunks, gradients, halves

SIGNATURE = "(...,2*n) | (...,n),(...,n)"
TRAITS = ("pointwise",)


def forward(
    x: Array, gate: Array | None = None, *, alpha: float = 1.702, limit: float = 7.0, swapped: bool = False
) -> Array:
    a, b = halves(x, gate, swapped)
    a, b = np.minimum(a, limit), np.minimum(np.maximum(b, -limit), limit)
    return a * sigmoid(alpha * a) * (b + 1)  # type: ignore[no-any-return]


def vjp(
    g: Array,
    y: Array,
    x: Array,
    gate: Array | None = None,
    *,
    alpha: float = 1.702,
    limit: float = 7.0,
    swapped: bool = False,
) -> Array | tuple[Array, Array]:
    a0, b0 = halves(x, gate, swapped)
    a, b = np.minimum(a0, limit), np.minimum(np.maximum(b0, -limit), limit)
    s = sigmoid(alpha * a)
    da = np.where(a0 <= limit, g * (b + 1) * (s * (1 + alpha * a * (1 - s))), 0)
    db = np.where(np.abs(b0) <= limit, g * (a * s), 0)
    return gradients(da, db, gate, swapped)


def kinks(
    x: Array, gate: Array | None = None, *, alpha: float = 1.702, limit: float = 7.0, swapped: bool = False
) -> Array:
    a, b = halves(x, gate, swapped)
    da, db = np.abs(a - limit), np.abs(np.abs(b) - limit)
    if gate is not None:
        return np.minimum(da, db)
    joined = gradients(da, db, None, swapped)
    assert not isinstance(joined, tuple)
    return joined


def torch(
    torch: Any, x: Any, gate: Any = None, *, alpha: float = 1.702, limit: float = 7.0, swapped: bool = False
) -> Any:
    a, b = chunks(torch, x, gate, swapped)
    a, b = torch.clamp(a, max=limit), torch.clamp(b, -limit, limit)
    return (a * torch.sigmoid(alpha * a) * (b + 1)).to(x.dtype)
