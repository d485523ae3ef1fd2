"""lightning_indexer: how much each query wants each key, by few small heads: what sparse attention picks its keys by.

Shapes: q (n, t, h, d), k (n, s, d), head_weights (n, t, h), mask (n, t, s) or none; y (n, t, s), the sum over heads of
head_weights max(q · k, 0), plus the mask.
Gradient: with r = q · k, dweights = sum over s of g max(r, 0), dr = g head_weights where r > 0, dq = dr k, dk = drᵀ q
summed over queries and heads, dmask = g.
Kinks: about q · k = 0. At 0 itself the slope is 0, as everywhere.
Source: DeepSeek-AI, DeepSeek-V3.2-Exp: Boosting Long-Context Efficiency with DeepSeek Sparse Attention (2025),
equation 1.
PyTorch: none. ONNX: none. ggml: ggml_lightning_indexer.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(n<4,t,h<9,d),(n,s,d),(n,t,h),(n,t,s)?"
TRIVIAL = {
    "forward": ("copy", "constant", "zeros"),
    "vjp": ("zeros", "constant", "copy"),
}  # where no product is above 0
TRAITS = ("long sum",)


def _products(q: Array, k: Array) -> Array:
    """Of every query, head and key: (n, t, h, s)."""
    return np.matmul(q, np.swapaxes(k, -1, -2)[:, None])  # type: ignore[no-any-return]


def forward(q: Array, k: Array, head_weights: Array, mask: Array | None = None) -> Array:
    y = np.sum(np.maximum(_products(q, k), 0) * head_weights[..., None], axis=2)
    return y if mask is None else y + mask  # type: ignore[no-any-return]


def vjp(
    g: Array, y: Array, q: Array, k: Array, head_weights: Array, mask: Array | None = None
) -> tuple[Array, Array, Array, Array | None]:
    r, along = _products(q, k), g[:, :, None]
    dweights = np.sum(along * np.maximum(r, 0), axis=-1)
    dr = np.where(r > 0, along * head_weights[..., None], 0)
    n, t, h, s = r.shape
    d = q.shape[-1]
    dk = np.matmul(np.swapaxes(np.reshape(dr, (n, t * h, s)), -1, -2), np.reshape(q, (n, t * h, d)))
    return np.matmul(dr, k[:, None]), dk, dweights, None if mask is None else g


def kinks(q: Array, k: Array, head_weights: Array, mask: Array | None = None) -> Array:
    longest = np.max(np.sqrt(np.sum(k * k, axis=-1)), axis=-1, initial=0)[:, None, None]
    products = np.abs(_products(q, k))
    nearest = np.min(np.where(products == 0, np.inf, products), axis=-1, initial=np.inf)
    distance = np.where(longest > 0, nearest / np.where(longest > 0, longest, 1), 0)
    return np.broadcast_to(distance[..., None], q.shape)


def torch(torch: Any, q: Any, k: Any, head_weights: Any, mask: Any = None) -> Any:
    a, b, w = widened(torch, q, k, head_weights)
    scores = torch.relu(torch.einsum("nthd,nsd->nths", a, b))
    y = torch.einsum("nths,nth->nts", scores, w)
    return (y if mask is None else y + mask).to(q.dtype)
