"""triu: the upper triangle of each matrix, zeros elsewhere.

Shapes: x (..., m, n); y as x, with x where j >= i + diagonal, for row i and column j.
Gradient: the same triangle of g.
Source: the definition.
PyTorch: torch.triu. ONNX: Trilu (upper = 1). ggml: ggml_tri.
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
NEIGHBOURS = ("tril",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": k, "y": k} for k in range(-len(shapes["x"]), -2)]


def forward(x: Array, *, diagonal: int = 0) -> Array:
    return np.triu(x, diagonal)


def hidden(x: Array, *, diagonal: int = 0) -> tuple[Array | None, ...]:
    return (np.triu(np.ones(x.shape), diagonal) == 0,)


def vjp(g: Array, y: Array, x: Array, *, diagonal: int = 0) -> Array:
    return np.triu(g, diagonal)


def torch(torch: Any, x: Any, *, diagonal: int = 0) -> Any:
    return torch.triu(x, diagonal)
