"""addmv: beta x + alpha a b, a matrix times a vector added to a vector.

Shapes: a (m, k), b (k,), x (m,); y (m,).
Where beta is 0, x is not looked at, whatever stands in it.
Gradient: da = alpha g bᵀ, db = alpha aᵀ g and dx = beta g.
Source: Giles, Collected matrix derivative results for forward and reverse mode AD (2008), 2.2.2; BLAS, gemv.
PyTorch: torch.addmv. ONNX: none. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._products import added, added_vjp, added_without_product

SIGNATURE = "(m),(m,k),(k)"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum", "multiplies")


def hidden(x: Array, a: Array, b: Array, *, beta: float = 1.0, alpha: float = 1.0) -> tuple[Array | None, ...]:
    return np.full(x.shape, beta == 0), None, None


def forward(x: Array, a: Array, b: Array, *, beta: float = 1.0, alpha: float = 1.0) -> Array:
    return added(x[:, None], a, b[:, None], beta, alpha)[:, 0]


def conventions(x: Array, a: Array, b: Array, *, beta: float = 1.0, alpha: float = 1.0) -> Iterator[Array]:
    for y in added_without_product(x[:, None], a, b[:, None], beta, alpha):
        yield y[:, 0]


def vjp(
    g: Array, y: Array, x: Array, a: Array, b: Array, *, beta: float = 1.0, alpha: float = 1.0
) -> tuple[Array, Array, Array]:
    dx, da, db = added_vjp(g[:, None], x[:, None], a, b[:, None], beta, alpha)
    return dx[:, 0], da, db[:, 0]


def torch(torch: Any, x: Any, a: Any, b: Any, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    return torch.addmv(x, a, b, beta=beta, alpha=alpha)
