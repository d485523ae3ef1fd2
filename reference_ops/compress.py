"""compress: the slices of x along `dim` where condition is not 0, one after the other: the first `size` of them.

Shapes: x any, condition (n,) integers, n the size of x along `dim`; y as x with `size` slices along dim, of which those
behind the last are fill_value. Without `size`, as NumPy has it, their number depends on the data.
Gradient: each slice of g to the slice of x that it came from, zeros to the others. None for condition.
Source: NumPy's documentation of numpy.compress.
PyTorch: none (torch.masked_select of slices). ONNX: Compress. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...,n),(n)"
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")
TRIVIAL = {"forward": ("constant", "zeros"), "vjp": ("constant", "copy", "zeros")}  # where no slice is kept


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"condition": range(2)}


def _taken(condition: Array, dim: int, rank: int, size: int) -> tuple[Any, Any]:
    """Where the slices that are kept lie in x, and where in y."""
    places, before = np.flatnonzero(condition)[:size], (slice(None),) * (dim % rank)
    return (*before, places), (*before, slice(0, len(places)))


def forward(x: Array, condition: Array, *, dim: int, size: int, fill_value: float = 0) -> Array:
    if condition.shape != (x.shape[dim],):
        raise ValueError(f"there are {condition.size} truths for {x.shape[dim]} slices")
    source, target = _taken(condition, dim, x.ndim, size)
    shape = tuple(size if a == dim % x.ndim else n for a, n in enumerate(x.shape))
    y = np.full(shape, fill_value, dtype=x.dtype, like=x)
    y[target] = x[source]
    return y


def vjp(
    g: Array, y: Array, x: Array, condition: Array, *, dim: int, size: int, fill_value: float = 0
) -> tuple[Array, None]:
    source, target = _taken(condition, dim, x.ndim, size)
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    dx[source] = g[target]
    return dx, None


def torch(torch: Any, x: Any, condition: Any, *, dim: int, size: int, fill_value: float = 0) -> Any:
    found = torch.index_select(x, dim, torch.nonzero(condition)[:size, 0])
    shape = list(found.shape)
    shape[dim] = size - shape[dim]
    return torch.cat([found, torch.full(shape, fill_value, dtype=x.dtype)], dim=dim)
