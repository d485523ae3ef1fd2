"""matrix_power: each square matrix multiplied n times by itself; the unit matrix for n = 0.

Shapes: x (..., k, k); y as x.
Gradient: the sum over i < n of (xᵀ)^i g (xᵀ)^(n - 1 - i).
Source: Higham, Functions of Matrices (2008), section 4.1.
PyTorch: torch.linalg.matrix_power. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,k<65,k)"
ANALYTIC = True
TRIVIAL = {"forward": ("copy", "constant"), "vjp": ("copy", "zeros", "constant")}  # of n = 1, and of n = 0
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (-1.0, 1.0)}  # powers of larger ones leave f16


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -2)]


def _powers(x: Array, n: int) -> list[Array]:
    """The powers 0 to n."""
    if n < 0 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"power {n} of {x.shape}")
    found = [np.zeros_like(x) + np.eye(x.shape[-1], dtype=x.dtype)]
    for _ in range(n):
        found.append(x if len(found) == 1 else np.matmul(found[-1], x))
    return found


def forward(x: Array, *, n: int) -> Array:
    return _powers(x, n)[-1]


def vjp(g: Array, y: Array, x: Array, *, n: int) -> Array:
    powers = _powers(np.swapaxes(x, -1, -2), max(n - 1, 0))
    dx = np.zeros_like(g)
    for i in range(n):
        dx = dx + np.matmul(np.matmul(powers[i], g), powers[n - 1 - i])
    return dx


def torch(torch: Any, x: Any, *, n: int) -> Any:
    return torch.linalg.matrix_power(x, n)
