"""gather_nd: the slices of x at places that several indices name together, one for each of its axes behind the batch.

Shapes: x any, indices (*rows, k) integers; y (*rows, *rest): with b = batch_dims, the first b axes of x and of indices
are alike, the k axes behind them are named, and the rest is taken whole. An index lies in [0, size) of every axis that
it could name.
Gradient: each slice of g added to the slice of x that it came from, repeated ones summed. None for indices.
Source: ONNX, GatherND.
PyTorch: none (torch.Tensor's indices). ONNX: GatherND. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(n,m,l),(i,2)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("long sum", "indexed")
KINDS = ("float8", "signed", "unsigned")
REPEATS = "vjp"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    first = params.get("batch_dims", 0)
    return {"indices": range(min(shapes["x"][first : first + shapes["indices"][-1]]))}


def _named(indices: Array, batch_dims: int) -> tuple[Array, ...]:
    """An array of places for each axis that is named, those of the batch first."""
    lead: Any = np.indices(indices.shape[:batch_dims], sparse=True)
    more = (1,) * (indices.ndim - 1 - batch_dims)
    own = [np.reshape(n, (*n.shape, *more)) for n in lead]
    return (*own, *np.moveaxis(indices, -1, 0))


def forward(x: Array, indices: Array, *, batch_dims: int = 0) -> Array:
    return x[_named(indices, batch_dims)]


def vjp(g: Array, y: Array, x: Array, indices: Array, *, batch_dims: int = 0) -> tuple[Array, None]:
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    np.add.at(dx, _named(indices, batch_dims), g)
    return dx, None


def torch(torch: Any, x: Any, indices: Any, *, batch_dims: int = 0) -> Any:
    own = [
        torch.arange(indices.shape[b]).reshape(*(-1 if b == c else 1 for c in range(indices.dim() - 1)))
        for b in range(batch_dims)
    ]
    return x[(*own, *indices.unbind(-1))]
