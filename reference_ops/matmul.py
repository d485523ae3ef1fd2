"""matmul: a b, batched and broadcast over the leading axes.

Shapes: a (..., m, k), b (..., k, n); y (..., m, n). A vector a (k,) or b (k,) as in NumPy.
Gradient: da = g bᵀ and db = aᵀ g, each summed over the batch axes along which it was broadcast.
Source: Giles, Collected matrix derivative results for forward and reverse mode AD (2008), 2.2.2.
PyTorch: torch.matmul, torch.mm. ONNX: MatMul. ggml: ggml_mul_mat (which takes bᵀ first).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._passed import of_products

SIGNATURE = "(...,m,k),(...,k,n) | (k),(k,n) | (...,m,k),(k)"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("broadcasts", "long sum", "multiplies")
KINDS = ("signed", "unsigned")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    a, b = (len(shapes[name]) for name in ("a", "b"))
    batch = [{"a": -k, "b": -k, "y": -k} for k in range(max(a, b), 2, -1)]
    return [*batch, {"a": -2, "y": -2}, {"b": -1, "y": -1}] if min(a, b) > 1 else []


def forward(a: Array, b: Array) -> Array:
    return np.matmul(a, b)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    a2 = np.reshape(a, (1, -1)) if a.ndim == 1 else a
    b2 = np.reshape(b, (-1, 1)) if b.ndim == 1 else b
    batch = np.broadcast_shapes(a2.shape[:-2], b2.shape[:-2])
    g2 = np.reshape(g, (*batch, a2.shape[-2], b2.shape[-1]))
    da = np.matmul(g2, np.swapaxes(b2, -1, -2))
    db = np.matmul(np.swapaxes(a2, -1, -2), g2)
    return np.reshape(unbroadcast(da, a2.shape), a.shape), np.reshape(unbroadcast(db, b2.shape), b.shape)


def partials(a: Array, b: Array) -> Iterator[Array]:
    return of_products(forward, a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.matmul(a, b)
