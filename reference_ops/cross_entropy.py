"""cross_entropy: -log softmax(x) at the class index `target`, or averaged by `target`'s probabilities; reduced.

Every class c of C has a weight and a share q_c of the target; y = -sum_c weight_c q_c log softmax(x)_c.
Shapes: x (n, C, ...); target (n, ...) integers in [0, C), or as x of probabilities; or x (C,) and target ();
weight (C,), ones where left out; y as target (without classes) for "none", else (). A target of
ignore_index counts for nothing; probabilities have none. "mean" divides by the sum of the weights of the targets
(indices), or by the number of rows (probabilities). label_smoothing e makes q_c (1 - e) q_c + e / C.
Gradient: dx = g (softmax(x) sum_c weight_c q_c - weight q), divided as y is; for probabilities
dtarget = -g (1 - e) weight log softmax(x). None for weight and for indices.
Source: Bishop, Pattern Recognition and Machine Learning (2006), equations 4.108 and 4.109; Szegedy et al.,
Rethinking the Inception Architecture (2016), section 7; weights as PyTorch.
PyTorch: torch.nn.functional.cross_entropy. ONNX: SoftmaxCrossEntropyLoss.
ggml: ggml_cross_entropy_loss (probabilities, mean over rows).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._axes import largest, unbounded_above
from opproof.reference_ops._classes import class_axis, hits, picked, targets, used
from opproof.reference_ops._losses import each, reduced
from opproof.reference_ops._shift import through_the_largest

SIGNATURE = "(n,C,...),(n,...),(C)? | (n,C),(n,C),(C)?"
TRAITS = ("rowwise", "statistic", "shares", "long sum", "indexed")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    x, target = shapes["x"], shapes["target"]
    classes = targets(x[class_axis(x)], **params)
    return {"target": Closed(0.0, 1.0) if target == x else classes, "weight": Closed(0.0, np.inf)}


def _log_softmax(x: Array) -> Array:
    axis = class_axis(x.shape)
    shifted = x - largest(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))  # type: ignore[no-any-return]


def _by_class(weight: Array | None, x: Array) -> Any:
    """The weights along the axis of classes of x; 1 where there are none."""
    return 1 if weight is None else np.reshape(weight, (-1,) + (1,) * (x.ndim - 1 - class_axis(x.shape)))


def forward(
    x: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Array:
    return _loss(_log_softmax(x), target, weight, ignore_index, label_smoothing, reduction)


def _loss(
    log_p: Array, target: Array, weight: Array | None, ignore_index: int, label_smoothing: float, reduction: str
) -> Array:
    axis, w = class_axis(log_p.shape), _by_class(weight, log_p)
    even = label_smoothing / max(log_p.shape[axis], 1)
    if target.shape == log_p.shape:
        if ignore_index >= 0:
            raise ValueError(f"probabilities are no class that ignore_index={ignore_index} could leave out")
        q = (1 - label_smoothing) * target + even if label_smoothing else target
        return reduced(-np.sum(log_p * q * w, axis=axis), reduction, log_p.size // max(log_p.shape[axis], 1))
    w_target, count = used(target, weight, ignore_index)
    loss = -picked(log_p, target, ignore_index) * w_target
    if label_smoothing:
        loss = (1 - label_smoothing) * loss - even * np.sum(log_p * w, axis=axis)
    return reduced(np.where(target == ignore_index, 0, loss), reduction, count)


def conventions(
    x: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Iterator[Array]:
    infinite = unbounded_above(x, class_axis(x.shape))
    beside = np.where(x == np.inf, np.nan, -np.inf)  # as x - logsumexp(x) has it
    log_p = np.where(infinite, beside, _log_softmax(x))
    yield _loss(log_p, target, weight, ignore_index, label_smoothing, reduction)


def hidden(
    x: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> tuple[Array | None, ...]:
    if target.shape == x.shape:
        return None, None, None
    ignored = np.expand_dims(target == ignore_index, class_axis(x.shape))
    return np.broadcast_to(ignored, x.shape), None, None


def vjp(
    g: Array,
    y: Array,
    x: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> tuple[Array, Array | None]:
    axis, p, w = class_axis(x.shape), np.exp(_log_softmax(x)), _by_class(weight, x)
    even = label_smoothing / max(x.shape[axis], 1)
    rows = target.shape if target.shape != x.shape else x.shape[:axis] + x.shape[axis + 1 :]
    if target.shape == x.shape:
        per = each(g, reduction, x.size // max(x.shape[axis], 1))
        per = np.expand_dims(np.broadcast_to(per, rows), axis)
        q = ((1 - label_smoothing) * target + even) * w
        dx = through_the_largest((p * np.sum(q, axis=axis, keepdims=True) - q) * per, p, axis)
        return dx, -(1 - label_smoothing) * w * _log_softmax(x) * per
    w_target, count = used(target, weight, ignore_index)
    per = np.expand_dims(np.broadcast_to(each(g, reduction, count), rows), axis)
    share = (1 - label_smoothing) * (w_target if weight is None else np.expand_dims(w_target, axis))
    total = share + (label_smoothing if weight is None else label_smoothing * np.mean(weight))
    dx = (p * total - even * w) * per
    dx = through_the_largest(np.where(hits(x, target, ignore_index), dx - share * per, dx), p, axis)
    return np.where(np.expand_dims(target == ignore_index, axis), 0, dx), None


def torch(
    torch: Any,
    x: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Any:
    return torch.nn.functional.cross_entropy(
        x, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )
