"""split: x cut along `dim` into parts of the given sizes, one output each.

Shapes: x any; as many outputs as sizes, which add up to the size of x along `dim`.
Gradient: the parts of g one after another.
Source: the definition.
PyTorch: torch.split. ONNX: Split. ggml: none (ggml_view).
"""

import itertools
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.tuples import tuple_of

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, sizes: tuple[int, ...], dim: int = 0) -> tuple[Array, ...]:
    if sum(sizes) != x.shape[dim]:
        raise ValueError(f"the sizes {sizes} are not those of an axis of {x.shape[dim]}")
    axis = (slice(None),) * (dim % x.ndim)
    ends = itertools.pairwise(itertools.accumulate(sizes, initial=0))
    return tuple(x[(*axis, slice(start, end))] for start, end in ends)


def vjp(g: Array | tuple[Array, ...], y: tuple[Array, ...], x: Array, *, sizes: tuple[int, ...], dim: int = 0) -> Array:
    return np.concatenate(tuple_of(g), axis=dim)  # of one piece the cotangent is no tuple


def torch(torch: Any, x: Any, *, sizes: tuple[int, ...], dim: int = 0) -> Any:
    return torch.split(x, sizes, dim)
