"""cummin: the least element up to and with each one, along `dim`, and where it stands.

Shapes: x any; y and indices (int64) as x. Of equal elements the last one so far counts; NaN stays.
Gradient: each g to the element that it came from, summed.
Kinks: ties.
Source: PyTorch's documentation of torch.cummin.
PyTorch: torch.cummin. ONNX: none. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._axes import left
from opproof.reference_ops._index import added, along
from opproof.reference_ops._order import gaps, last_records, taken

OUTPUTS = ("y", "indices")
ON_REQUEST = ("indices",)
TRAITS = ("rowwise", "ordered", "long sum")
NEIGHBOURS = ("cummax",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{**of, "indices": of["y"]} for of in left(shapes, params["dim"], keepdim=True)]


def forward(x: Array, *, dim: int) -> tuple[Array, Array]:
    indices = last_records(-x, dim)
    return taken(x, indices, dim), indices


def vjp(g: tuple[Array, Any], y: tuple[Array, Array], x: Array, *, dim: int) -> Array:
    return added(x.shape, along(last_records(-x, dim), dim), g[0]) if x.ndim else g[0]


def kinks(x: Array, *, dim: int) -> Array:
    return gaps(x, dim)


def torch(torch: Any, x: Any, *, dim: int) -> Any:
    return torch.cummin(x, dim)
