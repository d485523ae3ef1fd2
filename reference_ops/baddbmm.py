"""baddbmm: beta x + alpha a b for every matrix of a batch, a product added to a tensor.

Shapes: a (batch, m, k), b (batch, k, n), x broadcasts to (batch, m, n); y (batch, m, n).
Where beta is 0, x is not looked at, whatever stands in it.
Gradient: da = alpha g bᵀ, db = alpha aᵀ g and dx = beta g, summed over the axes along which x was broadcast.
Source: Giles, Collected matrix derivative results for forward and reverse mode AD (2008), 2.2.2; BLAS, gemm.
PyTorch: torch.baddbmm. ONNX: none. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._products import added, added_vjp, added_without_product

SIGNATURE = "(b,m,n),(b,m,k),(b,k,n)"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("broadcasts", "long sum", "multiplies")


def hidden(x: Array, a: Array, b: Array, *, beta: float = 1.0, alpha: float = 1.0) -> tuple[Array | None, ...]:
    return np.full(x.shape, beta == 0), None, None


def forward(x: Array, a: Array, b: Array, *, beta: float = 1.0, alpha: float = 1.0) -> Array:
    return added(x, a, b, beta, alpha)


def conventions(x: Array, a: Array, b: Array, *, beta: float = 1.0, alpha: float = 1.0) -> Iterator[Array]:
    yield from added_without_product(x, a, b, beta, alpha)


def vjp(
    g: Array, y: Array, x: Array, a: Array, b: Array, *, beta: float = 1.0, alpha: float = 1.0
) -> tuple[Array, Array, Array]:
    return added_vjp(g, x, a, b, beta, alpha)


def torch(torch: Any, x: Any, a: Any, b: Any, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    return torch.baddbmm(x, a, b, beta=beta, alpha=alpha)
