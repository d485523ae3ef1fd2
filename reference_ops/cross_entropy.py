"""cross_entropy: -log softmax(x) at the class index `target`, reduced over the batch.

Shapes: x (n, c), target (n,) integers in [0, c); y () for "mean" and "sum", (n,) for "none".
Gradient: (softmax(x) - one_hot(target)) g, divided by n for "mean". None for target.
Source: Bishop, Pattern Recognition and Machine Learning (2006), equations 4.108 and 4.109.
PyTorch: torch.nn.functional.cross_entropy. ONNX: SoftmaxCrossEntropyLoss.
ggml: ggml_cross_entropy_loss (probabilities instead of indices, mean over rows).
"""

from typing import Any

import numpy as np

from opproof.reference_ops._arrays import Array


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"target": range(shapes["x"][1])}


def forward(x: Array, target: Array, *, reduction: str = "mean") -> Array:
    shifted = x - np.max(x, axis=1, keepdims=True)
    log_sum = np.log(np.sum(np.exp(shifted), axis=1))
    loss = log_sum - shifted[np.arange(x.shape[0]), target]
    if reduction == "none":
        return loss  # type: ignore[no-any-return]
    return np.sum(loss) if reduction == "sum" else np.mean(loss)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array, target: Array, *, reduction: str = "mean") -> tuple[Array, None]:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    one_hot = np.arange(x.shape[1]) == target[:, None]
    per_row = np.reshape(g, (-1, 1)) / (x.shape[0] if reduction == "mean" else 1)
    return (p - one_hot) * per_row, None


def torch(torch: Any, x: Any, target: Any, *, reduction: str = "mean") -> Any:
    return torch.nn.functional.cross_entropy(x, target, reduction=reduction)
