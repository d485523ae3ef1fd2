"""slogdet: the sign of each square matrix's determinant, and the logarithm of its size, which overflows for no matrix.

Shapes: x (..., n, n), not singular; sign and logabsdet (...).
Gradient: g x⁻ᵀ of the logarithm, 0 of the sign.
Source: Golub, Van Loan, Matrix Computations (2013), section 3.2; Giles (2008), 2.2.4.
PyTorch: torch.linalg.slogdet. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,n<65,n)"
OUTPUTS = ("sign", "logabsdet")
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": "regular"}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "sign": k + 2, "logabsdet": k + 2} for k in range(-len(shapes["x"]), -2)]


def forward(x: Array) -> tuple[Array, Array]:
    sign, logarithm = np.linalg.slogdet(x)
    if not np.all(sign):
        raise np.linalg.LinAlgError("Singular matrix")
    return sign, logarithm


def vjp(g: tuple[Any, Array], y: tuple[Array, Array], x: Array) -> Array:
    return g[1][..., None, None] * np.swapaxes(np.linalg.inv(x), -1, -2)


def torch(torch: Any, x: Any) -> Any:
    if x.element_size() < 4:
        raise NotImplementedError("PyTorch's linear algebra takes no 16 bits")
    return torch.linalg.slogdet(x)
