"""slice: every step-th cell of x from start to end along `dim`; negative numbers count from the end.

Shapes: x any; y as x but for its size along `dim`. end None is the end of the axis.
Gradient: g in the cells taken, zeros elsewhere.
Source: the definition (Python's slices, with steps of 1 or more).
PyTorch: torch.Tensor.__getitem__. ONNX: Slice. ggml: ggml_view (with strides).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import axes

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def _where(rank: int, dim: int, start: int, end: int | None, step: int) -> Any:
    return (*(slice(None),) * axes(dim, rank)[0], slice(start, end, step))


def forward(x: Array, *, dim: int, start: int = 0, end: int | None = None, step: int = 1) -> Array:
    return x[_where(x.ndim, dim, start, end, step)]  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, *, dim: int, start: int = 0, end: int | None = None, step: int = 1) -> Array:
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    dx[_where(x.ndim, dim, start, end, step)] = g
    return dx


def torch(torch: Any, x: Any, *, dim: int, start: int = 0, end: int | None = None, step: int = 1) -> Any:
    return x[_where(x.ndim, dim, start, end, step)]
