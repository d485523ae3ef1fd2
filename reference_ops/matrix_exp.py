"""matrix_exp: the exponential of each square matrix, the sum of its powers over the factorials.

Shapes: x (..., n, n); y as x. The matrix is halved until its norm is at most 1, and the sum is squared as often.
Gradient: the derivative of the exponential at xᵀ along g, which stands in a corner of exp([[xᵀ, g], [0, xᵀ]]).
Source: Higham, Functions of Matrices (2008), sections 10.2, 10.3.
PyTorch: torch.linalg.matrix_exp. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,n<65,n)"
ANALYTIC = True
TRAITS = ("long sum",)
#: Terms of the sum: of a matrix of norm 1 the next one is below a rounding of float64.
_TERMS = 20


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (-1.0, 1.0)}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -2)]


def _exp(x: Array, norm: int) -> Array:
    """The exponential of matrices whose rows add up to no more than `norm`."""
    halvings = max(0, norm - 1).bit_length()
    small = x / 2.0**halvings
    y = term = np.broadcast_to(np.eye(x.shape[-1]), x.shape) + np.zeros_like(x)
    for k in range(1, _TERMS):
        term = np.matmul(term, small) / k
        y = y + term
    for _ in range(halvings):
        y = np.matmul(y, y)
    return y


def forward(x: Array) -> Array:
    return _exp(x, x.shape[-1])


def vjp(g: Array, y: Array, x: Array) -> Array:
    n, t = x.shape[-1], np.swapaxes(x, -1, -2)
    upper = np.concatenate([t, g], axis=-1)
    lower = np.concatenate([np.zeros_like(t), t], axis=-1)
    return _exp(np.concatenate([upper, lower], axis=-2), n)[..., :n, n:]


def torch(torch: Any, x: Any) -> Any:
    if x.element_size() < 4:
        raise NotImplementedError("PyTorch's matrix_exp takes no 16 bits")
    return torch.linalg.matrix_exp(x)
