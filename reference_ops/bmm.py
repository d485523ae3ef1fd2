"""bmm: a b for every matrix of a batch, without broadcasting.

Shapes: a (batch, m, k), b (batch, k, n); y (batch, m, n).
Gradient: da = g bᵀ and db = aᵀ g.
Source: Giles, Collected matrix derivative results for forward and reverse mode AD (2008), 2.2.2.
PyTorch: torch.bmm. ONNX: MatMul. ggml: ggml_mul_mat (which takes bᵀ first).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(b,m,k),(b,k,n)"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum", "multiplies")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"a": -3, "b": -3, "y": -3}, {"a": -2, "y": -2}, {"b": -1, "y": -1}]


def forward(a: Array, b: Array) -> Array:
    return np.matmul(a, b)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.matmul(g, np.swapaxes(b, 1, 2)), np.matmul(np.swapaxes(a, 1, 2), g)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.bmm(a, b)
