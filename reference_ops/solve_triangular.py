"""solve_triangular: X with A X = B, or X A = B where not left, A triangular; the other triangle is never read.

Shapes: a (..., n, n), b (..., n, k), or (..., k, n) where not left; y as b, batches broadcast. unitriangular: the
diagonal of A is taken as ones, whatever stands there.
Gradient: dB solves Aᵀ dB = g, and from the saved X, dA = -dB Xᵀ in the triangle (off the diagonal where unitriangular).
Source: Golub, Van Loan, Matrix Computations (2013), section 3.1; Giles (2008), 2.2.3.
PyTorch: torch.linalg.solve_triangular. ONNX: none. ggml: ggml_solve_tri.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

SIGNATURE = "(...,n<65,n),(...,n,k)"
ANALYTIC = True
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": "nonzero"}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    batch = range(-max(map(len, shapes.values())), -2)
    return [dict.fromkeys(("a", "b", "y"), k) for k in batch]


def _t(m: Array) -> Array:
    return np.swapaxes(m, -1, -2)


def _solve(a: Array, b: Array, upper: bool, unit: bool) -> Array:
    """Substitution, row by row from the row that has one unknown."""
    n = a.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.zeros((*batch, *b.shape[-2:]), dtype=np.result_type(a, b), like=b)
    for i in reversed(range(n)) if upper else range(n):
        known, row = (slice(i + 1, n) if upper else slice(0, i)), slice(i, i + 1)
        rest = b[..., row, :] - np.matmul(a[..., row, known], x[..., known, :])
        x[..., row, :] = rest if unit else rest / a[..., row, row]
    return x


def forward(a: Array, b: Array, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Array:
    if b.shape[-2 if left else -1] != a.shape[-1]:
        raise ValueError(f"no solution has a of {a.shape} {'before' if left else 'behind'} it and b of {b.shape}")
    return _solve(a, b, upper, unitriangular) if left else _t(_solve(_t(a), _t(b), not upper, unitriangular))


def hidden(
    a: Array, b: Array, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> tuple[Array | None, ...]:
    inside = np.ones(a.shape)
    off = 1 if unitriangular else 0
    return (np.triu(inside, off) if upper else np.tril(inside, -off)) == 0, None


def vjp(
    g: Array, y: Array, a: Array, b: Array, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> tuple[Array, Array]:
    db = forward(_t(a), g, upper=not upper, left=left, unitriangular=unitriangular)
    da = -np.matmul(db, _t(y)) if left else -np.matmul(_t(y), db)
    off = 1 if unitriangular else 0
    da = np.triu(da, off) if upper else np.tril(da, -off)
    return unbroadcast(da, a.shape), unbroadcast(db, b.shape)


def torch(torch: Any, a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    return torch.linalg.solve_triangular(a, b, upper=upper, left=left, unitriangular=unitriangular)
