"""kron: Kronecker's product: every element of a times the whole of b, as blocks.

Shapes: a and b of any rank, the lesser filled up with axes of 1 in front; y has the product of both sizes on each axis,
and y[i p + k, j q + l] = a[i, j] b[k, l] for b (p, q).
Gradient: da = g b summed over a block, and db = g a summed over all blocks.
Source: Golub, Van Loan, Matrix Computations (2013), section 1.3.6.
PyTorch: torch.kron. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(m,n),(p,q) | (m),(p) | (l,m,n),(q)"
ANALYTIC = True
MULTILINEAR = True
TRIVIAL = {"forward": ("zeros",)}  # of numbers whose products are too small for the dtype
TRAITS = ("long sum",)


def _sizes(a: Array, b: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of both with as many axes."""
    rank = max(a.ndim, b.ndim)
    return (1,) * (rank - a.ndim) + a.shape, (1,) * (rank - b.ndim) + b.shape


def _apart(sizes: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes in which axes of a and of b take turns, those of the other being 1."""
    pairs = list(zip(*sizes, strict=True))
    return tuple(n for m, _ in pairs for n in (m, 1)), tuple(n for _, m in pairs for n in (1, m))


def forward(a: Array, b: Array) -> Array:
    sizes = _sizes(a, b)
    left, right = (np.reshape(v, shape) for v, shape in zip((a, b), _apart(sizes), strict=True))
    return np.reshape(left * right, tuple(m * n for m, n in zip(*sizes, strict=True)))


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    sizes = _sizes(a, b)
    rank = len(sizes[0])
    left, right = (np.reshape(v, shape) for v, shape in zip((a, b), _apart(sizes), strict=True))
    apart = np.reshape(g, tuple(n for pair in zip(*sizes, strict=True) for n in pair))
    da = np.sum(apart * right, axis=tuple(range(1, 2 * rank, 2)))
    db = np.sum(apart * left, axis=tuple(range(0, 2 * rank, 2)))
    return np.reshape(da, a.shape), np.reshape(db, b.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.kron(a, b)
