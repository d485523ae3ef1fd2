"""upsample_bicubic: x at another height and width, interpolated between four cells of each axis by a cubic (a = -0.75).

Shapes: x (n, c, h, w); y (n, c, *size), larger or smaller (without antialiasing). With align_corners the corner cells
of x and y coincide, without it the corners of their areas do. Cells past an edge are taken as those at the edge.
Gradient: each weight times g, summed back into the cell that it was for.
Source: Keys, Cubic convolution interpolation for digital image processing (1981).
PyTorch: torch.nn.functional.interpolate (mode = "bicubic"). ONNX: Resize (cubic).
ggml: ggml_interpolate (GGML_SCALE_MODE_BICUBIC).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._resize import coordinates, far, matrix, near, resize
from opproof.reference_ops._windows import asked_of_something

SIGNATURE = "(n,c,h,w)"
ANALYTIC = True
TRAITS = ("resize",)
NEIGHBOURS = ("upsample_bilinear",)


def _weights(n: int, out: int, align_corners: bool, like: Array) -> Array:
    exact, place = coordinates(n, out, align_corners, like)
    cell = np.floor(exact).astype(np.int64)
    t = place - cell.astype(place.dtype)
    return matrix([(cell - 1, far(t + 1)), (cell, near(t)), (cell + 1, near(1 - t)), (cell + 2, far(2 - t))], n)


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
    return torch.nn.functional.interpolate(x, size, mode="bicubic", align_corners=align_corners)
