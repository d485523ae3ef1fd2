"""roi_align: each box of a plane cut into a grid of bins, and the mean of samples between four cells in every bin.

Shapes: x (n, c, h, w), rois (r, 4) of (x1, y1, x2, y2) in cells over spatial_scale, index (r,) integers in [0, n);
y (r, c, *output_size). A bin has sampling_ratio samples along each axis, evenly spread. Where aligned, cells are half
a cell off their numbers; else a box is one cell long at least. Samples more than a cell outside the plane are 0, nearer
ones are moved onto its edge.
Gradient: g over the samples of its bin, times each cell's weight, to the cell. None for boxes, as torchvision.
Source: He et al., Mask R-CNN (2017), section 3.
PyTorch: none (torchvision.ops.roi_align). ONNX: RoiAlign (avg). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._sampled import add, corners, read
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,c,h,w),(r,4),(r)"
TRAITS = ("long sum", "indexed")
REPEATS = "vjp"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    scale = float(params.get("spatial_scale", 1.0))
    # From where samples are 0, by way of where they are moved onto the edge.
    return {"rois": (-1.5 / scale, min(shapes["x"][2:]) / scale), "index": range(shapes["x"][0])}


def _samples(first: Array, last: Array, bins: int, ratio: int, scale: float, aligned: bool) -> Array:
    """Places of all samples of each box along one axis: (r, bins ratio)."""
    off = 0.5 if aligned else 0.0
    start, end = first * scale - off, last * scale - off
    size = end - start if aligned else np.maximum(end - start, 1)
    step = size / (bins * ratio)
    return start[:, None] + (np.arange(bins * ratio) + 0.5) * step[:, None]


def _inside(place: Array, n: int) -> tuple[Array, Array]:
    """Places moved onto the plane, and 1 where they were no more than a cell outside of it."""
    near = (place >= -1) & (place <= n)
    return np.minimum(np.maximum(place, 0), n - 1), near.astype(place.dtype)


def _grid(
    x: Array, rois: Array, output_size: tuple[int, int], scale: float, ratio: int, aligned: bool
) -> tuple[Array, Array, Array]:
    """Rows and columns of all samples, (r, rows, columns) both, and the weight of each: 0 or 1 over a bin's number."""
    ys = _samples(rois[:, 1], rois[:, 3], output_size[0], ratio, scale, aligned)
    xs = _samples(rois[:, 0], rois[:, 2], output_size[1], ratio, scale, aligned)
    (py, ny), (px, nx) = _inside(ys, x.shape[2]), _inside(xs, x.shape[3])
    ones = np.ones((rois.shape[0], py.shape[1], px.shape[1]), like=py)
    alive = ny[:, :, None] * nx[:, None, :] / (ratio * ratio)
    return py[:, :, None] * ones, px[:, None, :] * ones, alive


def forward(
    x: Array, rois: Array, index: Array, *, output_size: tuple[int, int], spatial_scale: float = 1.0,
    sampling_ratio: int = 2, aligned: bool = False,
) -> Array:  # fmt: skip
    py, px, share = _grid(x, rois, output_size, spatial_scale, sampling_ratio, aligned)
    boxes, total = x[index], np.zeros((rois.shape[0], x.shape[1], *py.shape[1:]), like=x)
    for c in corners(py, px, (x.shape[2], x.shape[3])):
        total = total + read(boxes, c.row, c.column) * (c.weight * share)[:, None]
    high, wide = output_size
    bins = np.reshape(total, (*total.shape[:2], high, sampling_ratio, wide, sampling_ratio))
    return np.sum(bins, axis=(3, 5))  # type: ignore[no-any-return]


def vjp(
    g: Array, y: Array, x: Array, rois: Array, index: Array, *, output_size: tuple[int, int],
    spatial_scale: float = 1.0, sampling_ratio: int = 2, aligned: bool = False,
) -> tuple[Array, None, None]:  # fmt: skip
    py, px, share = _grid(x, rois, output_size, spatial_scale, sampling_ratio, aligned)
    spread = np.repeat(np.repeat(g, sampling_ratio, axis=2), sampling_ratio, axis=3)
    dboxes, dx = np.zeros((rois.shape[0], *x.shape[1:]), like=g), np.zeros_like(x, dtype=g.dtype)
    for c in corners(py, px, (x.shape[2], x.shape[3])):
        add(dboxes, c.row, c.column, spread * (c.weight * share)[:, None])
    np.add.at(dx, index, dboxes)
    return dx, None, None


def torch(
    torch: Any, x: Any, rois: Any, index: Any, *, output_size: tuple[int, int], spatial_scale: float = 1.0,
    sampling_ratio: int = 2, aligned: bool = False,
) -> Any:  # fmt: skip
    wide, boxes = widened(torch, x, rois.detach())
    boxes, axes = boxes * spatial_scale - (0.5 if aligned else 0.0), []
    for first, n, bins in ((1, x.shape[2], output_size[0]), (0, x.shape[3], output_size[1])):
        size = boxes[:, first + 2] - boxes[:, first]
        size = size if aligned else size.clamp(min=1)
        middles = torch.arange(bins * sampling_ratio, dtype=boxes.dtype) + 0.5
        place = boxes[:, first, None] + middles * (size / (bins * sampling_ratio))[:, None]
        onto = place.clamp(0, n - 1)
        low = onto.floor().long()
        axes.append((low, (low + 1).clamp(max=n - 1), onto - low, (place >= -1) & (place <= n)))
    (top, under, fy, ny), (left, right, fx, nx) = axes
    of = index[:, None, None]

    def at(rows: Any, columns: Any) -> Any:
        return wide[of, :, rows[:, :, None], columns[:, None, :]]

    fx, fy = fx[:, None, :, None], fy[:, :, None, None]
    above, below = (at(rows, left) * (1 - fx) + at(rows, right) * fx for rows in (top, under))
    samples = (above * (1 - fy) + below * fy) * (ny[:, :, None] & nx[:, None, :])[..., None]
    means = torch.nn.functional.avg_pool2d(samples.permute(0, 3, 1, 2), sampling_ratio)
    return means.to(x.dtype)
