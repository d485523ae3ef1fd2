"""max_unpool2d: a plane of zeros with each element of x at the place that indices name, as max pooling told it.

Shapes: x and indices (n, c, h, w), indices int64, places in the plane of the result, row by row, no place twice;
y (n, c, *output_size).
Gradient: g at the places of the elements. None for indices.
Source: PyTorch's documentation of torch.nn.MaxUnpool2d.
PyTorch: torch.nn.functional.max_unpool2d. ONNX: MaxUnpool. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._index import Distinct

SIGNATURE = "(n,c,h,w),(n,c,h,w); output_size=(2*h,w+3)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")


class _Places(Distinct):
    """Indices of a plane, none of which stands twice in it."""

    def __call__(self, bits: Any, shape: tuple[int, ...], *, every: bool = False) -> Any:
        flat = super().__call__(bits, (*shape[:-2], math.prod(shape[-2:])), every=every)
        return flat.reshape(shape)

    def check(self, name: str, index: Array) -> None:
        super().check(name, np.reshape(index, (*index.shape[:-2], math.prod(index.shape[-2:]))))


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"indices": _Places(math.prod(params["output_size"]))}


def _flat(x: Array) -> Array:
    """(n, c, places): planes as rows."""
    return np.reshape(x, (*x.shape[:2], x.shape[2] * x.shape[3]))


def forward(x: Array, indices: Array, *, output_size: tuple[int, int]) -> Array:
    y = np.zeros((*x.shape[:2], math.prod(output_size)), dtype=x.dtype, like=x)
    lead = np.indices((*x.shape[:2], 1), sparse=True)[:2]
    y[(*lead, _flat(indices))] = _flat(x)
    return np.reshape(y, (*x.shape[:2], *output_size))


def vjp(g: Array, y: Array, x: Array, indices: Array, *, output_size: tuple[int, int]) -> tuple[Array, None]:
    lead = np.indices((*x.shape[:2], 1), sparse=True)[:2]
    return np.reshape(_flat(g)[(*lead, _flat(indices))], x.shape), None


def torch(torch: Any, x: Any, indices: Any, *, output_size: tuple[int, int]) -> Any:
    return torch.ops.aten.max_unpool2d(x, indices, list(output_size))
