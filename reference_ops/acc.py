"""acc: a with b added to a strided view of it.

Shapes: a any; b any, with one stride per axis; y as a. Element (i, j, ...) of b is added to element
offset + i stride[0] + j stride[1] + ... of a in row-major order; no two may meet.
Gradient: da = g and db = the view of g.
Source: ggml.h, ggml_acc (there in bytes, nb1 to nb3 and offset; here in elements, as torch.as_strided).
PyTorch: torch.Tensor.index_add (at the places of the view). ONNX: none. ggml: ggml_acc.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
TRIVIAL = {"vjp": ("copy",)}
IN_PLACE = ("a",)


def _places(shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> NDArray[np.int64]:
    """Where the elements of b lie in a, both counted in row-major order."""
    axes = np.indices(shape).reshape(len(shape), math.prod(shape))
    return offset + np.array(stride, dtype=np.int64) @ axes


def forward(a: Array, b: Array, *, stride: tuple[int, ...], offset: int = 0) -> Array:
    places = _places(b.shape, stride, offset)
    source = np.zeros(a.size, dtype=np.int64)
    source[places] = np.arange(b.size)
    hit = np.isin(np.arange(a.size), places)
    added = np.where(hit, np.take(np.reshape(b, (-1,)), source), 0) if b.size else np.zeros_like(np.reshape(a, (-1,)))
    return a + np.reshape(added, a.shape)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array, *, stride: tuple[int, ...], offset: int = 0) -> tuple[Array, Array]:
    return g, np.reshape(np.take(np.reshape(g, (-1,)), _places(b.shape, stride, offset)), b.shape)


def torch(torch: Any, a: Any, b: Any, *, stride: tuple[int, ...], offset: int = 0) -> Any:
    # Not torch.as_strided_scatter: its gradient for the whole is wrong (PyTorch 2.13).
    places = torch.arange(a.numel(), device=a.device).as_strided(b.shape, stride, offset)
    return a.reshape(-1).index_add(0, places.reshape(-1), b.reshape(-1)).reshape(a.shape)
