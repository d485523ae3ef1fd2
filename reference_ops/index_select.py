"""index_select: the slices of x along `dim` that index names, in its order, repeated as often as it repeats them.

Shapes: x any, index (n,) integers in [0, size of dim); y as x with size n along `dim`.
Gradient: each slice of g added to the slice of x that it came from, repeated ones summed. None for index.
Source: PyTorch's documentation of torch.index_select.
PyTorch: torch.index_select. ONNX: Gather. ggml: ggml_get_rows (dim = 0 of a matrix).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._index import added, rows

SIGNATURE = "(...),(i)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("long sum", "indexed")
KINDS = ("float8", "signed", "unsigned")
REPEATS = "vjp"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"index": range(shapes["x"][params["dim"]])}


def forward(x: Array, index: Array, *, dim: int) -> Array:
    return x[rows(index, dim, x.ndim)]  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, index: Array, *, dim: int) -> tuple[Array, None]:
    return added(x.shape, rows(index, dim, x.ndim), g), None


def torch(torch: Any, x: Any, index: Any, *, dim: int) -> Any:
    return torch.index_select(x, dim, index)
