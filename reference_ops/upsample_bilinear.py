"""upsample_bilinear: x at another height and width, interpolated between the two nearest cells of each axis.

Shapes: x (n, c, h, w); y (n, c, *size), larger or smaller (without antialiasing). With align_corners the corner cells
of x and y coincide, without it the corners of their areas do. Cells past an edge are taken as those at the edge.
Gradient: each weight times g, summed back into the cell that it was for.
Source: Duda, Hart, Pattern Classification and Scene Analysis (1973).
PyTorch: torch.nn.functional.interpolate (mode = "bilinear"). ONNX: Resize (linear).
ggml: ggml_interpolate (GGML_SCALE_MODE_BILINEAR).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._resize import coordinates, matrix, resize
from opproof.reference_ops._windows import asked_of_something

SIGNATURE = "(n,c,h,w)"
ANALYTIC = True
TRAITS = ("resize",)
NEIGHBOURS = ("upsample_bicubic",)


def _weights(n: int, out: int, align_corners: bool, like: Array) -> Array:
    exact, place = coordinates(n, out, align_corners, like)
    cell = np.floor(np.maximum(exact, 0)).astype(np.int64)
    t = np.maximum(place, 0) - cell.astype(place.dtype)
    return matrix([(cell, 1 - t), (cell + 1, t)], n)


def _both(x: Array, size: tuple[int, int], align_corners: bool) -> tuple[Array, Array]:
    rows, columns = (_weights(n, out, align_corners, x) for n, out in zip(x.shape[2:], size, strict=True))
    return rows, columns


def forward(x: Array, *, size: tuple[int, int], align_corners: bool = False) -> Array:
    asked_of_something(x, "resizing")
    return resize(x, *_both(x, size, align_corners))


def vjp(g: Array, y: Array, x: Array, *, size: tuple[int, int], align_corners: bool = False) -> Array:
    rows, columns = _both(x, size, align_corners)
    return resize(g, np.swapaxes(rows, 0, 1), np.swapaxes(columns, 0, 1))


def torch(torch: Any, x: Any, *, size: tuple[int, int], align_corners: bool = False) -> Any:
    return torch.nn.functional.interpolate(x, size, mode="bilinear", align_corners=align_corners)
