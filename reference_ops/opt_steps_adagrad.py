"""opt_steps_adagrad: k steps of AdaGrad, the first of them number `step`, counted from 1.

    g = grads[i] + weight_decay param
    s' = s + g²
    param' = param - lr / (1 + (step + i - 1) lr_decay) g / (√s' + eps)

Shapes: param and state_sum alike, grads (k, ...) one gradient a step; outputs as param:
the parameters after k steps, state_sum.
Gradient: none, a step is not differentiated.
Source: Duchi et al., Adaptive Subgradient Methods (2011), figure 1; the falling rate as PyTorch.
PyTorch: torch.optim.Adagrad. ONNX: Adagrad (one step). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._torch import stepped, widened

SIGNATURE = "(...),(s<9,...),(...)"
OUTPUTS = ("param", "state_sum")
IN_PLACE = ("param",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"state_sum": Closed(0.0, np.inf)}


def forward(
    param: Array,
    grads: Array,
    state_sum: Array,
    *,
    lr: float,
    lr_decay: float = 0.0,
    weight_decay: float = 0.0,
    eps: float = 1e-10,
    step: int = 1,
) -> tuple[Array, Array]:
    for i, given in enumerate(grads):
        grad = given + weight_decay * param
        state_sum = state_sum + grad * grad
        param = param - lr / (1 + (step + i - 1) * lr_decay) * grad / (np.sqrt(state_sum) + eps)
    return param, state_sum


def torch(
    torch: Any,
    param: Any,
    grads: Any,
    state_sum: Any,
    *,
    lr: float,
    lr_decay: float = 0.0,
    weight_decay: float = 0.0,
    eps: float = 1e-10,
    step: int = 1,
) -> tuple[Any, ...]:
    wide = widened(torch, param, grads, state_sum)
    given: dict[str, Any] = {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps}
    return stepped(torch, torch.optim.Adagrad, wide, ("sum",), param.dtype, step, **given)
