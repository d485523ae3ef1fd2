"""cholesky: the lower triangular factor L of each symmetric positive definite matrix, L Lᵀ = x, its diagonal positive.

Shapes: x (..., n, n), of which backends read one triangle or both; y as x, zeros above the diagonal.
Gradient: the symmetric part of L⁻ᵀ P L⁻¹, P the lower triangle of Lᵀ g with its diagonal halved, from the saved L. As x
is symmetric, no other part is determined: who reads one triangle has it all there, twice off the diagonal.
Source: Golub, Van Loan, Matrix Computations (2013), section 4.2; Murray, Differentiation of the Cholesky decomposition
(arXiv:1602.07527), section 3.1; Giles (2008).
PyTorch: torch.linalg.cholesky. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,n<65,n)"
TRAITS = ("long sum",)
SYMMETRIC = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": "definite"}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -2)]


def _t(m: Array) -> Array:
    return np.swapaxes(m, -1, -2)


def forward(x: Array) -> Array:
    return np.linalg.cholesky((x + _t(x)) / 2)


def vjp(g: Array, y: Array, x: Array) -> Array:
    n = x.shape[-1]
    halved = np.tril(np.ones((n, n))) - np.eye(n) / 2
    back = np.linalg.inv(y)
    d = np.matmul(np.matmul(_t(back), halved * np.matmul(_t(y), g)), back)
    return (d + _t(d)) / 2  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    if x.element_size() < 4:
        raise NotImplementedError("PyTorch's linear algebra takes no 16 bits")
    return torch.linalg.cholesky(x)
