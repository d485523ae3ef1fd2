"""sort: the elements of x in order along `dim`, and the places they come from.

Shapes: x any; y and indices (int64) as x. Equal elements keep their order, descending too.
Gradient: each g to the element that it came from; among equal elements in any order.
Kinks: ties.
Source: the definition.
PyTorch: torch.sort (stable = True). ONNX: TopK (k = the whole axis). ggml: none (ggml_argsort).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import left
from opproof.reference_ops._order import equals, gaps, order, order_with_nan, taken

EXACT = ("forward", "vjp")
OUTPUTS = ("y", "indices")
TRAITS = ("rowwise", "ordered")
KINDS = ("signed", "unsigned")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{**of, "indices": of["y"]} for of in left(shapes, params["dim"], keepdim=True)]


def forward(x: Array, *, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    indices = order(x, dim, descending)
    return taken(x, indices, dim), indices


def conventions(x: Array, *, dim: int = -1, descending: bool = False) -> Iterator[tuple[Array, Array]]:
    for first in (False, True):  # NaN is the largest, the smallest, or stands behind everything
        indices = order_with_nan(x, dim, descending, first=first)
        yield taken(x, indices, dim), indices


def vjp(g: tuple[Array, Any], y: tuple[Array, Array], x: Array, *, dim: int = -1, descending: bool = False) -> Array:
    if not x.ndim:
        return g[0]
    return np.take_along_axis(g[0], np.argsort(order(x, dim, descending), axis=dim), axis=dim)


def kinks(x: Array, *, dim: int = -1, descending: bool = False) -> Array:
    return gaps(x, dim)


def ties(x: Array, *, dim: int = -1, descending: bool = False) -> Array:
    return equals(x, dim)


def torch(torch: Any, x: Any, *, dim: int = -1, descending: bool = False) -> Any:
    return torch.sort(x, dim=dim, descending=descending, stable=True)
