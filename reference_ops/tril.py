"""tril: the lower triangle of each matrix, zeros elsewhere.

Shapes: x (..., m, n); y as x, with x where j <= i + diagonal, for row i and column j.
Gradient: the same triangle of g.
Source: the definition.
PyTorch: torch.tril. ONNX: Trilu (upper = 0). ggml: ggml_tri.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,m,n)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)
KINDS = ("float8", "signed", "unsigned")
NEIGHBOURS = ("triu",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -2)]


def forward(x: Array, *, diagonal: int = 0) -> Array:
    return np.tril(x, diagonal)


def hidden(x: Array, *, diagonal: int = 0) -> tuple[Array | None, ...]:
    return (np.tril(np.ones(x.shape), diagonal) == 0,)


def vjp(g: Array, y: Array, x: Array, *, diagonal: int = 0) -> Array:
    return np.tril(g, diagonal)


def torch(torch: Any, x: Any, *, diagonal: int = 0) -> Any:
    return torch.tril(x, diagonal)
