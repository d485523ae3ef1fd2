"""kl_div: t (log t - x), t the target's probabilities and x log-probabilities; reduced over all elements.

Shapes: x and target alike; y as x for "none", else (). "batchmean" divides the sum by the size of axis 0.
Gradient: dx = -t g and dtarget = (log t + 1 - x) g; where log_target, with t = exp(target),
dtarget = t (target + 1 - x) g; divided by the number of elements for "mean", of rows for "batchmean".
Source: Kullback, Leibler, On Information and Sufficiency (1951), of every element (as PyTorch).
PyTorch: torch.nn.functional.kl_div. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._losses import each, reduced

SIGNATURE = "(...),(...)"
TRAITS = ("rowwise", "long sum")


def domain(shapes: dict[str, tuple[int, ...]], *, log_target: bool = False, **params: Any) -> dict[str, Any]:
    return {} if log_target else {"target": Closed(0.0, 1.0)}


def forward(x: Array, target: Array, *, reduction: str = "mean", log_target: bool = False) -> Array:
    if log_target:
        loss = np.exp(target) * (target - x)
    else:
        loss = target * np.log(np.where(target > 0, target, 1)) - target * x
    return reduced(loss, *_reduction(x, reduction))


def vjp(
    g: Array, y: Array, x: Array, target: Array, *, reduction: str = "mean", log_target: bool = False
) -> tuple[Array, Array]:
    per = each(g, *_reduction(x, reduction))
    if log_target:
        t = np.exp(target)
        return -t * per, t * (target - x + 1) * per
    return -target * per, (np.log(target) + 1 - x) * per


def _reduction(x: Array, reduction: str) -> tuple[str, int]:
    """The reduction as "none", "sum" or "mean", and the number that "mean" divides by."""
    return ("mean", x.shape[0]) if reduction == "batchmean" else (reduction, x.size)


def torch(torch: Any, x: Any, target: Any, *, reduction: str = "mean", log_target: bool = False) -> Any:
    if reduction == "mean":  # which kl_div would warn of
        return torch.nn.functional.kl_div(x, target, reduction="none", log_target=log_target).mean()
    return torch.nn.functional.kl_div(x, target, reduction=reduction, log_target=log_target)
