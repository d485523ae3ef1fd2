"""nms: the boxes with the best scores, one after the other, none of which overlaps a better one: the first `size`.

Shapes: boxes (n, 4) of (x1, y1, x2, y2), any two opposite corners, scores (n,); y (size,) int64, numbers of boxes from
the best score down, the lower number first of equal ones, and -1 where there are fewer. Two boxes overlap where the
area of both is more than iou_threshold of the area of either. Without `size` their number depends on the data.
Gradient: none, the output is numbers of boxes.
Source: ONNX, NonMaxSuppression; Rosenfeld, Thurston, Edge and Curve Detection for Visual Scene Analysis (1971).
PyTorch: none (torchvision.ops.nms). ONNX: NonMaxSuppression. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(n,4),(n)"
EXACT = ("forward",)
TRAITS = ("ordered",)
TRIVIAL = {"forward": ("constant", "zeros")}  # of few boxes, all of which overlap


def _overlaps(boxes: Array) -> Array:
    """The area of both over the area of either, of every two boxes: 0 where they have none."""
    if boxes.shape[1] != 4:
        raise ValueError(f"a box has four numbers, these have {boxes.shape[1]}")
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    sides = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    both = np.prod(np.maximum(sides, 0), axis=-1)
    areas = np.prod(high - low, axis=-1)
    either = areas[:, None] + areas[None] - both
    return np.where(both > 0, both / np.where(either > 0, either, 1), 0)


def forward(boxes: Array, scores: Array, *, iou_threshold: float, size: int) -> Array:
    overlap, kept = _overlaps(boxes) > iou_threshold, list[int]()
    alive = np.ones(len(scores), dtype=bool)
    for i in np.argsort(-scores, kind="stable"):
        if alive[i] and len(kept) < size:
            kept.append(i)
            alive &= ~overlap[i]
    y = np.full(size, -1, dtype=np.int64)
    y[: len(kept)] = kept
    return y


def torch(torch: Any, boxes: Any, scores: Any, *, iou_threshold: float, size: int) -> Any:
    wide = boxes.to(torch.float64)
    x, y = (wide[:, axes].sort(dim=1).values for axes in ([0, 2], [1, 3]))
    kept: list[int] = []
    for i in torch.sort(scores, descending=True, stable=True).indices.tolist():
        rest = torch.tensor(kept, dtype=torch.int64)
        width = torch.minimum(x[i, 1], x[rest, 1]) - torch.maximum(x[i, 0], x[rest, 0])
        height = torch.minimum(y[i, 1], y[rest, 1]) - torch.maximum(y[i, 0], y[rest, 0])
        both = width.clamp(min=0) * height.clamp(min=0)
        own, others = (x[i, 1] - x[i, 0]) * (y[i, 1] - y[i, 0]), (x[rest, 1] - x[rest, 0]) * (y[rest, 1] - y[rest, 0])
        if len(kept) < size and not bool((both > iou_threshold * (own + others - both)).any()):
            kept.append(i)
    return torch.tensor([*kept, *[-1] * (size - len(kept))], dtype=torch.int64)
