"""addmm: beta x + alpha a b, a product of matrices added to a matrix.

Shapes: a (m, k), b (k, n), x broadcasts to (m, n); y (m, n).
Where beta is 0, x is not looked at, whatever stands in it.
Gradient: da = alpha g bᵀ, db = alpha aᵀ g and dx = beta g, summed over the axes along which x was broadcast.
Source: Giles, Collected matrix derivative results for forward and reverse mode AD (2008), 2.2.2; BLAS, gemm.
PyTorch: torch.addmm. ONNX: Gemm. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._products import added, added_vjp, added_without_product

SIGNATURE = "(m,n),(m,k),(k,n) | (n),(m,k),(k,n)"
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
    return torch.addmm(x, a, b, beta=beta, alpha=alpha)
