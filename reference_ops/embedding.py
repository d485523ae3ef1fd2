"""embedding: the rows of weight at the indices.

Shapes: weight (rows, n), indices any, integers in [0, rows); y (*indices, n).
Gradient: each g added to the row it was read from, rows read by nobody zero, and that at padding_idx zero too, which
is read as any other. None for indices.
Source: PyTorch's documentation of torch.nn.functional.embedding.
PyTorch: torch.nn.functional.embedding. ONNX: Gather (axis 0). ggml: ggml_get_rows.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(r,n),(...)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("long sum", "indexed")
KINDS = ("float8", "signed", "unsigned")
REPEATS = "vjp"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"indices": range(shapes["weight"][0])}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [*({"indices": -k, "y": -k - 1} for k in range(len(shapes["indices"]), 0, -1)), {"weight": -1, "y": -1}]


def forward(weight: Array, indices: Array, *, padding_idx: int | None = None) -> Array:
    if padding_idx is not None and not -len(weight) <= padding_idx < len(weight):
        raise ValueError(f"padding_idx is {padding_idx}, and there are {len(weight)} rows")
    return weight[indices]


def vjp(g: Array, y: Array, weight: Array, indices: Array, *, padding_idx: int | None = None) -> tuple[Array, None]:
    dweight = np.zeros_like(weight, dtype=g.dtype)
    np.add.at(dweight, indices, g)
    if padding_idx is not None:
        dweight[padding_idx] = 0
    return dweight, None


def held(weight: Array, indices: Array, *, padding_idx: int | None = None) -> tuple[Array, None] | None:
    if padding_idx is None:
        return None
    row = np.zeros(weight.shape, dtype=bool)
    row[padding_idx] = True
    return row, None


def torch(torch: Any, weight: Any, indices: Any, *, padding_idx: int | None = None) -> Any:
    return torch.nn.functional.embedding(indices, weight, padding_idx)
