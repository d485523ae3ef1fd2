"""take_along_dim: gather, after x and indices have been broadcast against each other on all axes but `dim`.

Shapes: x and indices of one rank, indices integers in [0, size of dim); y as the broadcast indices.
Gradient: each g added to the element of x that it came from, summed where x was broadcast. None for indices.
Source: PyTorch's documentation of torch.take_along_dim.
PyTorch: torch.take_along_dim. ONNX: GatherElements (without broadcasting).
ggml: ggml_get_rows (of whole rows, in batches).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._index import added, along

SIGNATURE = "(...),(...)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("long sum", "indexed")
KINDS = ("float8", "signed", "unsigned")
REPEATS = "vjp"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"indices": range(shapes["x"][params["dim"]])}


def _broadcast(x: Array, indices: Array, dim: int) -> tuple[tuple[int, ...], Array]:
    """The shape of x and the indices, broadcast against each other but along `dim`."""
    axis = dim % x.ndim
    shape = list(
        np.broadcast_shapes(
            (*x.shape[:axis], 1, *x.shape[axis + 1 :]), (*indices.shape[:axis], 1, *indices.shape[axis + 1 :])
        )
    )
    own, picked = shape.copy(), shape.copy()
    own[axis], picked[axis] = x.shape[axis], indices.shape[axis]
    return tuple(own), np.broadcast_to(indices, picked)


def forward(x: Array, indices: Array, *, dim: int) -> Array:
    shape, wide = _broadcast(x, indices, dim)
    return np.broadcast_to(x, shape)[along(wide, dim)]  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, indices: Array, *, dim: int) -> tuple[Array, None]:
    shape, wide = _broadcast(x, indices, dim)
    return unbroadcast(added(shape, along(wide, dim), g), x.shape), None


def torch(torch: Any, x: Any, indices: Any, *, dim: int) -> Any:
    return torch.take_along_dim(x, indices, dim)
