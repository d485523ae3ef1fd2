"""grid_sample: a plane read at places that a grid names from -1 to 1, between four cells or at the nearest one.

Shapes: x (n, c, h, w), grid (n, oh, ow, 2) of pairs (along w, along h); y (n, c, oh, ow). -1 and 1 are the centres of
the first and last cell where align_corners, their outer edges else. What lies outside is 0 under padding_mode
"zeros", that of the edge under "border", mirrored under "reflection".
Gradient: g times each cell's weight to the cell; to the grid the weights' change, 0 where it was cut off at the border.
Halfway between two cells, "nearest" takes the even one, or of a mirrored place the cell that mirrors the even one
(ONNX rounds before it mirrors).
Kinks: places in a row or column of centres; mirrors; under "nearest" the steps between cells, its grid has gradient 0.
Source: Jaderberg et al., Spatial transformer networks (2015).
PyTorch: torch.nn.functional.grid_sample. ONNX: GridSample. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._sampled import add, corners, read

SIGNATURE = "(n,c,h,w),(n,oh,ow,2)"
TRAITS = ("long sum",)
REPEATS = "vjp"


def _mirrored(place: Array, n: int, align_corners: bool) -> tuple[Array, Array]:
    """Places brought within the plane by mirrors at its edges, and how the result changes with them: 1 or -1."""
    low, span = (0.0, n - 1) if align_corners else (-0.5, n)
    if span == 0:
        return place * 0, place * 0
    away = np.abs(place - low)
    turns = np.floor(away / span)
    rest, odd = away - turns * span, turns % 2 != 0
    toward = np.where(place < low, -1.0, 1.0) * np.where(odd, -1.0, 1.0)
    return np.where(odd, span - rest, rest) + low, toward


def _places(grid: Array, n: int, padding_mode: str, align_corners: bool) -> tuple[Array, Array]:
    """Places along an axis of n cells, and how they change with the grid."""
    slope = (n - 1) / 2 if align_corners else n / 2
    place = (grid + 1) * slope - (0.0 if align_corners else 0.5)
    change = np.full(grid.shape, slope)
    if padding_mode == "reflection":
        place, toward = _mirrored(place, n, align_corners)
        change = change * toward
    if padding_mode != "zeros":
        change = np.where((place <= 0) | (place >= n - 1), 0, change)
        place = np.minimum(np.maximum(place, 0), n - 1)
    return place, change


def forward(
    x: Array, grid: Array, *, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Array:
    h, w = x.shape[2:]
    py = _places(grid[..., 1], h, padding_mode, align_corners)[0]
    px = _places(grid[..., 0], w, padding_mode, align_corners)[0]
    py, px = (np.rint(py), np.rint(px)) if mode == "nearest" else (py, px)
    total = np.zeros((x.shape[0], x.shape[1], *grid.shape[1:3]), like=x)
    for c in corners(py, px, (h, w)):
        total = total + read(x, c.row, c.column) * c.weight[:, None]
    return total


def conventions(
    x: Array, grid: Array, *, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Iterator[Array]:
    if mode != "nearest" or padding_mode != "reflection":
        return
    rows, columns = (
        _mirrored(np.rint(_places(grid[..., k], n, "zeros", align_corners)[0]), n, align_corners)[0]
        for k, n in ((1, x.shape[2]), (0, x.shape[3]))
    )
    yield read(x, *(np.clip(v, 0, n - 1).astype(np.int64) for v, n in zip((rows, columns), x.shape[2:], strict=True)))


def vjp(
    g: Array, y: Array, x: Array, grid: Array, *, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    h, w = x.shape[2:]
    py, sy = _places(grid[..., 1], h, padding_mode, align_corners)
    px, sx = _places(grid[..., 0], w, padding_mode, align_corners)
    dx, near = np.zeros_like(x), mode == "nearest"
    dy, dw = np.zeros_like(py), np.zeros_like(px)
    for c in corners(np.rint(py) if near else py, np.rint(px) if near else px, (h, w)):
        add(dx, c.row, c.column, g * c.weight[:, None])
        if not near:
            share = np.sum(g * read(x, c.row, c.column), axis=1)
            dy, dw = dy + share * c.along_y, dw + share * c.along_x
    return dx, np.stack([dw * sx, dy * sy], axis=-1)


def torch(
    torch: Any, x: Any, grid: Any, *, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Any:
    return torch.nn.functional.grid_sample(x, grid, mode, padding_mode, align_corners)
