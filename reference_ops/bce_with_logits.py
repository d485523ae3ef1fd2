"""bce_with_logits: (1 - t) x + (1 + (pos_weight - 1) t) log(1 + e⁻ˣ), times weight, t the target; reduced.

Shapes: x and target alike; weight and pos_weight broadcast to them; y () for "mean" and "sum", as x for "none".
An infinite x or target gives the limit that the formula tends to: a target of 0 or 1 no loss where x agrees, and
infinity where not. (The formulas as they stand have inf - inf there, and so have PyTorch and TensorFlow: nan.)
Gradient: dx = g w ((p t + 1 - t) sigmoid(x) - p t) and dtarget = g w ((p - 1) log(1 + e⁻ˣ) - x), w and p
the weights, divided by the number of elements for "mean". None for the weights.
Source: Bishop, Pattern Recognition and Machine Learning (2006), equation 4.90, of logits; weights as PyTorch.
PyTorch: torch.nn.functional.binary_cross_entropy_with_logits. ONNX: none. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._arrays import sigmoid, softplus
from opproof.reference_ops._losses import each, reduced

SIGNATURE = "(...,n),(...,n),(n)?,(n)?"
TRAITS = ("broadcasts", "rowwise", "long sum")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"target": Closed(0.0, 1.0), "weight": Closed(0.0, np.inf), "pos_weight": Closed(0.0, np.inf)}


def _formula(x: Array, target: Array, pos_weight: Array | None) -> Array:
    """The loss as it stands, NaN at infinity."""
    tail = softplus(-x)
    return (1 - target) * x + (tail if pos_weight is None else (1 + (pos_weight - 1) * target) * tail)


def _other(x: Array, target: Array, pos_weight: Array | None) -> Array:
    """The loss by the formula softplus(x) - t x, NaN at other infinities."""
    up = softplus(x)
    return up + target * (-x if pos_weight is None else pos_weight * softplus(-x) - up)  # type: ignore[no-any-return]


def _split(x: Array, target: Array, pos_weight: Array | None) -> Array:
    """The loss by the formula p t log(1 + e^-x) + (1 - t) log(1 + e^x), NaN at other infinities still."""
    positive = target if pos_weight is None else pos_weight * target
    return positive * softplus(-x) + (1 - target) * softplus(x)  # type: ignore[no-any-return]


def _limit(x: Array, target: Array, pos_weight: Array | None) -> Array:
    """The loss at infinity: (1 - t) softplus(x) + p t softplus(-x), where 0 times infinity is 0."""
    up, down = softplus(x), softplus(-x)
    slope = -x if pos_weight is None else pos_weight * down - up  # in the target
    positive = target if pos_weight is None else pos_weight * target
    far = _product(1 - target, up) + _product(positive, down)
    return np.where(np.isinf(x), far, up + _product(target, slope))


def _product(a: Array, b: Array) -> Array:
    return np.where(((a == 0) & np.isinf(b)) | (np.isinf(a) & (b == 0)), 0, a * b)


def forward(
    x: Array,
    target: Array,
    weight: Array | None = None,
    pos_weight: Array | None = None,
    *,
    reduction: str = "mean",
) -> Array:
    loss = _formula(x, target, pos_weight)
    loss = np.where(np.isinf(x) | np.isinf(target), _limit(x, target, pos_weight), loss)
    return reduced(loss if weight is None else loss * weight, reduction)


def conventions(
    x: Array,
    target: Array,
    weight: Array | None = None,
    pos_weight: Array | None = None,
    *,
    reduction: str = "mean",
) -> Iterator[Array]:
    for formula in (_formula, _other, _split):
        plain = formula(x, target, pos_weight)
        for loss in (np.where(np.isinf(target), np.nan, plain), plain):  # of terms in any order inf - inf
            yield reduced(loss if weight is None else loss * weight, reduction)


def vjp(
    g: Array,
    y: Array,
    x: Array,
    target: Array,
    weight: Array | None = None,
    pos_weight: Array | None = None,
    *,
    reduction: str = "mean",
) -> tuple[Array, Array]:
    per = each(g, reduction, x.size)
    per = per if weight is None else per * weight
    positive = target if pos_weight is None else pos_weight * target
    s = sigmoid(x)
    dx = (s if pos_weight is None else (positive + 1 - target) * s) - positive
    dtarget = -x if pos_weight is None else (pos_weight - 1) * softplus(-x) - x
    # Two terms of the loss have it as log(1 + e^-x) less log(1 + e^x), of which -x is left: their rounding is honest.
    dtarget = dtarget + (softplus(x) - softplus(x))
    return dx * per, dtarget * per


def torch(
    torch: Any, x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str = "mean"
) -> Any:
    # PyTorch's own gives nan at infinity: the limit is what it gives at 1e100, all that is huge taken for infinite.
    # The backend calls it as it is (backends/torch), and its ledger holds the defect.
    loss = torch.nn.functional.binary_cross_entropy_with_logits
    far = torch.isinf(x) | torch.isinf(target)
    if not far.any():
        return loss(x, target, weight, pos_weight=pos_weight, reduction=reduction)
    near = loss(x.clamp(-1e100, 1e100), target.clamp(-1e100, 1e100), pos_weight=pos_weight, reduction="none")
    y = torch.where(far & (near.abs() > 1e50), near * torch.inf, near)
    y = y if weight is None else y * weight
    return y if reduction == "none" else y.sum() if reduction == "sum" else y.mean()
