"""roi_pool: each box of a plane cut into a grid of bins, and the largest element of every bin.

Shapes: x (n, c, h, w), rois (r, 4) integers (x1, y1, x2, y2) in cells over spatial_scale, both ends part of the box,
index (r,) integers in [0, n); y (r, c, *output_size). A box is rounded to whole cells, half a cell away from 0, and
is one cell long at least; a bin that lies between two cells has both. Of bins outside of the plane the largest is 0.
Gradient: g to the largest element of each bin, the first of several. None for boxes and index.
Kinks: ties inside a bin.
Source: Girshick, Fast R-CNN (2015), section 2.1.
PyTorch: none (torchvision.ops.roi_pool). ONNX: MaxRoiPool. ggml: none.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,c,h,w),(r,4),(r)"
EXACT = ("forward",)
TRIVIAL = {"forward": ("constant", "zeros"), "vjp": ("constant", "zeros")}  # of one element, or boxes outside of x
TRAITS = ("long sum", "indexed")
REPEATS = "vjp"
NEIGHBOURS = ("roi_align",)
_Size = tuple[int, int]


@dataclass(frozen=True)
class _Boxes:
    """Draws boxes of any size that begin in the plane, or a cell before it, and may end beyond it."""

    high: int
    wide: int

    def __call__(
        self, bits: Callable[[int], NDArray[np.uint64]], shape: tuple[int, ...], *, every: bool = False
    ) -> NDArray[np.int64]:
        del every
        raw = (bits(math.prod(shape)) >> np.uint64(11)).astype(np.int64).reshape(-1, 4)
        sides = np.array([self.wide, self.high])
        first = raw[:, :2] % (sides + 1) - 1
        return np.concatenate([first, first + raw[:, 2:] % (sides + 1)], axis=1).reshape(shape)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    scale = float(params.get("spatial_scale", 1.0))
    high, wide = (round(n / scale) for n in shapes["x"][2:])
    return {"rois": _Boxes(high, wide), "index": range(shapes["x"][0])}


def _cut(first: int, last: int, bins: int, scale: float, n: int) -> list[slice]:
    """The cells of each bin along one axis of n cells."""
    begin, end = (int(np.sign(place) * np.floor(abs(place) * scale + 0.5)) for place in (first, last))
    long = max(end - begin + 1, 1)
    edges = ((b * long // bins, -(-(b + 1) * long // bins)) for b in range(bins))
    return [slice(*(min(max(begin + e, 0), n) for e in pair)) for pair in edges]


def _bins(x: Array, rois: Array, output_size: _Size, scale: float) -> Iterator[tuple[int, int, int, slice, slice]]:
    """The box, row and column of every bin, and its cells."""
    for r, (x1, y1, x2, y2) in enumerate(np.asarray(rois).tolist()):
        columns = _cut(x1, x2, output_size[1], scale, x.shape[3])
        for i, rows in enumerate(_cut(y1, y2, output_size[0], scale, x.shape[2])):
            for j, cells in enumerate(columns):
                yield r, i, j, rows, cells


def forward(x: Array, rois: Array, index: Array, *, output_size: _Size, spatial_scale: float = 1.0) -> Array:
    y = np.zeros((rois.shape[0], x.shape[1], *output_size), dtype=x.dtype, like=x)
    for r, i, j, rows, columns in _bins(x, rois, output_size, spatial_scale):
        cells = x[index[r], :, rows, columns]
        if cells.size:
            y[r, :, i, j] = np.max(cells, axis=(1, 2))
    return y


def vjp(
    g: Array, y: Array, x: Array, rois: Array, index: Array, *, output_size: _Size, spatial_scale: float = 1.0
) -> tuple[Array, None, None]:
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    channels = np.arange(x.shape[1])
    for r, i, j, rows, columns in _bins(x, rois, output_size, spatial_scale):
        cells = x[index[r], :, rows, columns]
        if cells.size:
            first = np.argmax(np.reshape(cells, (len(channels), -1)), axis=1)
            row, column = rows.start + first // cells.shape[2], columns.start + first % cells.shape[2]
            where = (index[r], channels, row, column)
            dx[where] = dx[where] + g[r, :, i, j]
    return dx, None, None


def kinks(x: Array, rois: Array, index: Array, *, output_size: _Size, spatial_scale: float = 1.0) -> Array:
    least = np.full(x.shape, np.inf)
    for r, _, _, rows, columns in _bins(x, rois, output_size, spatial_scale):
        cells = x[index[r], :, rows, columns]
        if cells[0].size > 1:
            flat = np.sort(np.reshape(cells, (x.shape[1], -1)), axis=1)
            top, second = flat[:, -1, None, None], flat[:, -2, None, None]
            gap = np.where(cells == top, top - second, top - cells)
            least[index[r], :, rows, columns] = np.minimum(least[index[r], :, rows, columns], gap)
    return least


def torch(torch: Any, x: Any, rois: Any, index: Any, *, output_size: _Size, spatial_scale: float = 1.0) -> Any:
    rows, (wide,) = [], widened(torch, x)
    for (x1, y1, x2, y2), n in zip(rois.tolist(), index.tolist(), strict=True):
        ends = [
            int(torch.floor(torch.tensor(abs(v) * spatial_scale + 0.5))) * (-1 if v < 0 else 1)
            for v in (x1, y1, x2, y2)
        ]
        high, long = max(ends[3] - ends[1] + 1, 1), max(ends[2] - ends[0] + 1, 1)
        across, down = (size + 8 + abs(min(ends)) for size in (long, high))  # of which no box reaches the end
        whole = torch.nn.functional.pad(wide[n], (across, across, down, down), value=-torch.inf)
        box = whole[:, ends[1] + down :, ends[0] + across :][:, :high, :long]
        box = torch.nn.functional.pad(box, (0, long - box.shape[2], 0, high - box.shape[1]), value=-torch.inf)
        found = torch.nn.functional.adaptive_max_pool2d(box, output_size)
        rows.append(torch.where(found == -torch.inf, torch.zeros_like(found), found))
    return torch.stack(rows).to(x.dtype) if rows else x.new_zeros((0, x.shape[1], *output_size))
