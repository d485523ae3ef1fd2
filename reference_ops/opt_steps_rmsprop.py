"""opt_steps_rmsprop: k steps of RMSprop, without momentum and not centred.

    g = grads[i] + weight_decay param
    v' = alpha v + (1 - alpha) g²
    param' = param - lr g / (√v' + eps)

Shapes: param and square_avg alike, grads (k, ...) one gradient a step; outputs as param:
the parameters after k steps, square_avg.
Gradient: none, a step is not differentiated.
Source: Tieleman, Hinton, Neural Networks for Machine Learning, lecture 6.5 (2012).
PyTorch: torch.optim.RMSprop. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._torch import stepped, widened

SIGNATURE = "(...),(s<9,...),(...)"
OUTPUTS = ("param", "square_avg")
IN_PLACE = ("param",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"square_avg": Closed(0.0, np.inf)}


def forward(
    param: Array,
    grads: Array,
    square_avg: Array,
    *,
    lr: float,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Array, Array]:
    for given in grads:
        grad = given + weight_decay * param
        square_avg = alpha * square_avg + (1 - alpha) * (grad * grad)
        param = param - lr * grad / (np.sqrt(square_avg) + eps)
    return param, square_avg


def torch(
    torch: Any,
    param: Any,
    grads: Any,
    square_avg: Any,
    *,
    lr: float,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Any, ...]:
    wide = widened(torch, param, grads, square_avg)
    given: dict[str, Any] = {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay}
    return stepped(torch, torch.optim.RMSprop, wide, ("square_avg",), param.dtype, **given)
