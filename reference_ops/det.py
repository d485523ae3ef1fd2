"""det: the determinant of each square matrix.

Shapes: x (..., n, n); y (...).
Gradient: g y x⁻ᵀ, from the saved output; g times the cofactors where x is singular.
Source: Golub, Van Loan, Matrix Computations (2013), section 3.2; Giles (2008), 2.2.4.
PyTorch: torch.linalg.det. ONNX: Det. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,n<65,n)"
ANALYTIC = True
TRAITS = ("long sum",)
#: PyTorch's gradient of a determinant of 0 is 0.
TWIN_ERRS = ("x=8x5x5;fill=singular", "x=8x2x2;fill=singular", "x=8x3x3;fill=singular")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": "nonzero"}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k + 2} for k in range(-len(shapes["x"]), -2)]


def forward(x: Array) -> Array:
    return np.linalg.det(x)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array) -> Array:
    singular = (y == 0)[..., None, None]
    if not singular.any():
        return (g * y)[..., None, None] * np.swapaxes(np.linalg.inv(x), -1, -2)
    regular = np.where(singular, np.eye(x.shape[-1]), x)
    by_inverse = y[..., None, None] * np.swapaxes(np.linalg.inv(regular), -1, -2)
    return g[..., None, None] * np.where(singular, _cofactors(x), by_inverse)


def _cofactors(x: Array) -> Array:
    """(-1)ⁱ⁺ʲ times the determinant of x without row i and column j."""
    n = x.shape[-1]
    left = np.array([[k for k in range(n) if k != i] for i in range(n)], dtype=int).reshape(n, n - 1)
    minors = x[..., left[:, None, :, None], left[None, :, None, :]]
    signed: Array = np.linalg.det(minors) * (-1.0) ** np.add.outer(np.arange(n), np.arange(n))
    return signed


def torch(torch: Any, x: Any) -> Any:
    if x.element_size() < 4:
        raise NotImplementedError("PyTorch's linear algebra takes no 16 bits")
    return torch.linalg.det(x)
