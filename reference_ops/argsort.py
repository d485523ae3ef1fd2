"""argsort: the indices that put x in order along `dim`.

Shapes: x any; y int64 as x. Equal elements keep their order, descending too.
Gradient: none, the output is indices.
Kinks: ties.
Source: the definition.
PyTorch: torch.argsort (stable = True). ONNX: TopK (its indices, k = the whole axis). ggml: ggml_argsort (dim = -1).
"""

from collections.abc import Iterator
from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._axes import left
from opproof.reference_ops._order import gaps, order, order_with_nan

EXACT = ("forward",)
TRAITS = ("rowwise", "ordered")
KINDS = ("signed", "unsigned")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], keepdim=True)


def forward(x: Array, *, dim: int = -1, descending: bool = False) -> Array:
    return order(x, dim, descending)


def conventions(x: Array, *, dim: int = -1, descending: bool = False) -> Iterator[Array]:
    for first in (False, True):  # NaN is the largest, the smallest, or stands behind everything
        yield order_with_nan(x, dim, descending, first=first)


def kinks(x: Array, *, dim: int = -1, descending: bool = False) -> Array:
    return gaps(x, dim)


def torch(torch: Any, x: Any, *, dim: int = -1, descending: bool = False) -> Any:
    return torch.argsort(x, dim=dim, descending=descending, stable=True)
