"""linear_cross_entropy: cross_entropy of x weightᵀ at the class indices `target`, whose logits no kernel need store.

y = -log softmax(x weightᵀ)[target], with label_smoothing e (1 - e) times that plus e times the mean over the classes.
Shapes: x (n, k), weight (C, k), target (n,) integers in [0, C); y (n,) for "none", else (). A target of ignore_index
counts for nothing; "mean" divides by the number of the others.
Gradient: with d = softmax(x weightᵀ) - q, q the smoothed target, zero in ignored rows, divided as y is:
dx = g d weight, dweight = (g d)ᵀ x. None for target.
Source: Wijmans et al., Cut Your Losses in Large-Vocabulary Language Models (2024), equations 2 to 4.
PyTorch: none (torch.nn.functional.linear and cross_entropy). ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import cross_entropy, linear
from opproof.reference_ops._classes import targets
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,k),(C,k),(n)"
TRAITS = ("long sum", "indexed", "multiplies")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"target": targets(shapes["weight"][0], **params)}


def forward(
    x: Array,
    weight: Array,
    target: Array,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Array:
    logits = linear.forward(x, weight)
    return cross_entropy.forward(
        logits, target, ignore_index=ignore_index, label_smoothing=label_smoothing, reduction=reduction
    )


def hidden(
    x: Array,
    weight: Array,
    target: Array,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> tuple[Array | None, ...]:
    return np.broadcast_to((target == ignore_index)[:, None], x.shape), None, None


def vjp(
    g: Array,
    y: Array,
    x: Array,
    weight: Array,
    target: Array,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> tuple[Array, Array, None]:
    logits = linear.forward(x, weight)
    dlogits, _ = cross_entropy.vjp(
        g, y, logits, target, ignore_index=ignore_index, label_smoothing=label_smoothing, reduction=reduction
    )
    dx, dweight, _ = linear.vjp(dlogits, logits, x, weight)
    return dx, dweight, None


def torch(
    torch: Any,
    x: Any,
    weight: Any,
    target: Any,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Any:
    f, (a, w) = torch.nn.functional, widened(torch, x, weight)
    loss = f.cross_entropy(
        f.linear(a, w), target, ignore_index=ignore_index, label_smoothing=label_smoothing, reduction=reduction
    )
    return loss.to(x.dtype)
