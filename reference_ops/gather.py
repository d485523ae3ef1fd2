"""gather: y[i, j, k] = x[i, index[i, j, k], k] for dim = 1, and likewise along any other axis.

Shapes: x any, index of the same rank, not larger but along `dim`, integers in [0, size of dim); y as index.
Gradient: each g added to the element of x that it came from, repeated ones summed. None for index.
Source: PyTorch's documentation of torch.gather.
PyTorch: torch.gather. ONNX: GatherElements. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._index import added, along

SIGNATURE = "(...),(...)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("long sum", "indexed")
KINDS = ("float8", "signed", "unsigned")
REPEATS = "vjp"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"index": range(shapes["x"][params["dim"]])}


def forward(x: Array, index: Array, *, dim: int) -> Array:
    return x[along(index, dim)]  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, index: Array, *, dim: int) -> tuple[Array, None]:
    return added(x.shape, along(index, dim), g), None


def torch(torch: Any, x: Any, index: Any, *, dim: int) -> Any:
    return torch.gather(x, dim, index)
