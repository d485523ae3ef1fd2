"""opt_steps_adam: k steps of Adam, the first of them number `step`, counted from 1.

    g = grads[i] + weight_decay param
    m' = beta1 m + (1 - beta1) g
    v' = beta2 v + (1 - beta2) g²
    param' = param - lr (m' / (1 - beta1^t)) / (√(v' / (1 - beta2^t)) + eps),    t = step + i

Shapes: param, exp_avg and exp_avg_sq alike, grads (k, ...) one gradient a step; outputs as param:
the parameters after k steps, exp_avg, exp_avg_sq.
Gradient: none, a step is not differentiated.
Source: Kingma, Ba, Adam (2015), algorithm 1.
PyTorch: torch.optim.Adam. ONNX: Adam (one step). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._torch import stepped, widened

SIGNATURE = "(...),(s<9,...),(...),(...)"
OUTPUTS = ("param", "exp_avg", "exp_avg_sq")
IN_PLACE = ("param",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"exp_avg_sq": Closed(0.0, np.inf)}


def forward(
    param: Array,
    grads: Array,
    exp_avg: Array,
    exp_avg_sq: Array,
    *,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    step: int = 1,
) -> tuple[Array, Array, Array]:
    for i, given in enumerate(grads):
        grad = given + weight_decay * param
        exp_avg = beta1 * exp_avg + (1 - beta1) * grad
        exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * (grad * grad)
        size = np.sqrt(exp_avg_sq / (1 - beta2 ** (step + i))) + eps
        param = param - lr * (exp_avg / (1 - beta1 ** (step + i))) / size
    return param, exp_avg, exp_avg_sq


def torch(
    torch: Any,
    param: Any,
    grads: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    *,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    step: int = 1,
) -> tuple[Any, ...]:
    wide = widened(torch, param, grads, exp_avg, exp_avg_sq)
    given: dict[str, Any] = {"lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": weight_decay}
    return stepped(torch, torch.optim.Adam, wide, ("exp_avg", "exp_avg_sq"), param.dtype, step, **given)
