"""opt_steps_adamw: k steps of Adam with decoupled weight decay, the first of them number `step`, counted from 1.

    m' = beta1 m + (1 - beta1) grads[i]
    v' = beta2 v + (1 - beta2) grads[i]²
    param' = param (1 - lr weight_decay) - lr (m' / (1 - beta1^t)) / (√(v' / (1 - beta2^t)) + eps),    t = step + i

Shapes: param, exp_avg and exp_avg_sq alike, grads (k, ...) one gradient a step; outputs as param:
the parameters after k steps, exp_avg, exp_avg_sq.
Gradient: none, a step is not differentiated.
Source: Loshchilov, Hutter, Decoupled Weight Decay Regularization (2019), algorithm 2.
PyTorch: torch.optim.AdamW. ONNX: none. ggml: ggml_opt_step_adamw (one step).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops import opt_step_adamw
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
    weight_decay: float = 0.01,
    step: int = 1,
) -> tuple[Array, Array, Array]:
    for i in range(len(grads)):
        param, exp_avg, exp_avg_sq = opt_step_adamw.forward(
            param, grads[i], exp_avg, exp_avg_sq, lr=lr, beta1=beta1, beta2=beta2, eps=eps,
            weight_decay=weight_decay, step=step + i,
        )  # fmt: skip
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
    weight_decay: float = 0.01,
    step: int = 1,
) -> tuple[Any, ...]:
    wide = widened(torch, param, grads, exp_avg, exp_avg_sq)
    given: dict[str, Any] = {"lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": weight_decay}
    return stepped(torch, torch.optim.AdamW, wide, ("exp_avg", "exp_avg_sq"), param.dtype, step, **given)
