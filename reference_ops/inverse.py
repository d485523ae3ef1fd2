"""inverse: the inverse of each square matrix.

Shapes: x (..., n, n), not singular; y as x.
Gradient: from the saved output, -yᵀ g yᵀ.
Source: Golub, Van Loan, Matrix Computations (2013), section 3.4; Giles (2008), 2.2.3.
PyTorch: torch.linalg.inv. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,n<65,n)"
ANALYTIC = True
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": "regular"}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -2)]


def forward(x: Array) -> Array:
    return np.linalg.inv(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    t = np.swapaxes(y, -1, -2)
    return -np.matmul(np.matmul(t, g), t)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    if x.element_size() < 4:
        raise NotImplementedError("PyTorch's linear algebra takes no 16 bits")
    return torch.linalg.inv(x)
