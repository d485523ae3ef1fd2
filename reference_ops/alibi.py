"""alibi: x minus each head's slope times the distance between query and key.

Shapes: x (..., heads, q, k), scores of queries that stand at positions n_past, n_past + 1, ... against keys that stand
at 0, 1, ...; y as x with y[h, i, j] = x[h, i, j] - slope[h] |n_past + i - j|, slope[h] = 2^(-max_bias (h + 1) / heads)
for a power of two of heads; those beyond it take every second slope of twice as many.
Gradient: g.
Source: Press, Smith, Lewis, Train Short, Test Long (2022), section 3.
PyTorch: none. ONNX: none. ggml: none of its own now (ggml_soft_max_ext with max_bias; formerly ggml_alibi).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._attention import slopes, torch_slopes
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,h<33,q,k)"
ANALYTIC = True
EXACT = ("vjp",)
TRIVIAL = {"vjp": ("copy",)}
TRAITS = ("pointwise",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -3)]


def forward(x: Array, *, max_bias: float = 8.0, n_past: int = 0) -> Array:
    q, k = x.shape[-2:]
    distance = np.abs(n_past + np.arange(q)[:, None] - np.arange(k)).astype(np.real(x).dtype)
    return x - slopes(x.shape[-3], max_bias, x) * distance  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, *, max_bias: float = 8.0, n_past: int = 0) -> Array:
    return g


def torch(torch: Any, x: Any, *, max_bias: float = 8.0, n_past: int = 0) -> Any:
    (wide,) = widened(torch, x)
    q, k = x.shape[-2:]
    # Distances as PyTorch builds Toeplitz matrices: the upper and the lower triangle one by one.
    offset = torch.arange(q).reshape(-1, 1).expand(q, k) - torch.arange(k) + n_past
    distance = torch.where(offset < 0, -offset, offset).to(wide.dtype)
    return (wide - torch_slopes(torch, x.shape[-3], max_bias, wide) * distance).to(x.dtype)
