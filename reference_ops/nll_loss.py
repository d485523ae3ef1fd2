"""nll_loss: -weight[t] x[t] at the class t = target, 0 where t is ignore_index; reduced over the batch.

Shapes: x (n, c, ...) of log-probabilities, target (n, ...) of integers in [0, c), or x (c,) and target ();
weight (c,), ones where left out; y as target for "none", else (). "mean" divides by the sum of the weights used.
Gradient: dx = -weight[t] g at the class t, else 0, divided as y is. None for target and weight.
Source: PyTorch's documentation of NLLLoss.
PyTorch: torch.nn.functional.nll_loss. ONNX: NegativeLogLikelihoodLoss. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._classes import class_axis, hits, picked, targets, used
from opproof.reference_ops._losses import each, reduced

SIGNATURE = "(n,C,...),(n,...),(C)?"
TRAITS = ("rowwise", "long sum", "indexed")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    classes = shapes["x"][class_axis(shapes["x"])]
    return {"target": targets(classes, **params), "weight": Closed(0.0, np.inf)}


def forward(
    x: Array, target: Array, weight: Array | None = None, *, ignore_index: int = -100, reduction: str = "mean"
) -> Array:
    w, count = used(target, weight, ignore_index)
    loss = np.where(target == ignore_index, 0, -picked(x, target, ignore_index) * w)
    return reduced(loss, reduction, count)


def hidden(
    x: Array, target: Array, weight: Array | None = None, *, ignore_index: int = -100, reduction: str = "mean"
) -> tuple[Array | None, ...]:
    return ~hits(x, target, ignore_index), None, None


def vjp(
    g: Array,
    y: Array,
    x: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> tuple[Array, None]:
    w, count = used(target, weight, ignore_index)
    per = np.broadcast_to(-w * each(g, reduction, count), target.shape)
    return np.where(hits(x, target, ignore_index), np.expand_dims(per, class_axis(x.shape)), 0), None


def torch(
    torch: Any, x: Any, target: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    return torch.nn.functional.nll_loss(x, target, weight, ignore_index=ignore_index, reduction=reduction)
