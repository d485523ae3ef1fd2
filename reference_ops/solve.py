"""solve: X with A X = B, or X A = B where not left, A square and not singular.

Shapes: a (..., n, n), b (..., n, k), or (..., k, n) where not left; y as b, batches broadcast.
Gradient: dB solves Aᵀ dB = g, and from the saved X, dA = -dB Xᵀ.
Source: Golub, Van Loan, Matrix Computations (2013), section 3.4; Giles (2008), 2.2.3.
PyTorch: torch.linalg.solve. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

SIGNATURE = "(...,n<65,n),(...,n,k)"
ANALYTIC = True
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": "regular"}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    batch = range(-max(map(len, shapes.values())), -2)
    return [dict.fromkeys(("a", "b", "y"), k) for k in batch]


def _t(m: Array) -> Array:
    return np.swapaxes(m, -1, -2)


def forward(a: Array, b: Array, *, left: bool = True) -> Array:
    if b.shape[-2 if left else -1] != a.shape[-1]:
        raise ValueError(f"no solution has a of {a.shape} {'before' if left else 'behind'} it and b of {b.shape}")
    return np.linalg.solve(a, b) if left else _t(np.linalg.solve(_t(a), _t(b)))


def vjp(g: Array, y: Array, a: Array, b: Array, *, left: bool = True) -> tuple[Array, Array]:
    db = forward(_t(a), g, left=left)
    da = -np.matmul(db, _t(y)) if left else -np.matmul(_t(y), db)
    return unbroadcast(da, a.shape), unbroadcast(db, b.shape)


def torch(torch: Any, a: Any, b: Any, *, left: bool = True) -> Any:
    if a.element_size() < 4:
        raise NotImplementedError("PyTorch's linear algebra takes no 16 bits")
    return torch.linalg.solve(a, b, left=left)
