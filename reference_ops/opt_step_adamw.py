"""opt_step_adamw: one step of Adam with decoupled weight decay, step counted from 1.

    m' = beta1 m + (1 - beta1) grad
    v' = beta2 v + (1 - beta2) grad²
    param' = param (1 - lr weight_decay) - lr (m' / (1 - beta1^step)) / (√(v' / (1 - beta2^step)) + eps)

Shapes: param, grad, exp_avg (m) and exp_avg_sq (v >= 0) alike; three outputs as them: param', m', v'.
Gradient: none, a step is not differentiated.
Source: Loshchilov, Hutter, Decoupled Weight Decay Regularization (2019), algorithm 2.
PyTorch: torch.optim.AdamW. ONNX: Adam (norm_coefficient instead of weight decay).
ggml: ggml_opt_step_adamw (in place; adamw_params = lr, beta1, beta2, eps, weight_decay and both corrections).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._torch import step_once

SIGNATURE = "(...),(...),(...),(...)"
OUTPUTS = ("param", "exp_avg", "exp_avg_sq")
TRAITS = ("pointwise",)
IN_PLACE = ("param",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"exp_avg_sq": Closed(0.0, np.inf)}


def forward(
    param: Array,
    grad: Array,
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
    m = beta1 * exp_avg + (1 - beta1) * grad
    v = beta2 * exp_avg_sq + (1 - beta2) * (grad * grad)
    size = np.sqrt(v / (1 - beta2**step)) + eps
    return param * (1 - lr * weight_decay) - lr * (m / (1 - beta1**step)) / size, m, v


def torch(
    torch: Any,
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    *,
    lr: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.01,
    step: int = 1,
) -> tuple[Any, Any, Any]:
    new = torch.nn.Parameter(param.detach().clone())
    new.grad = grad
    optimizer = torch.optim.AdamW([new], lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay)
    before = {"step": torch.tensor(float(step - 1)), "exp_avg": exp_avg.clone(), "exp_avg_sq": exp_avg_sq.clone()}
    optimizer.state[new] = before
    step_once(torch, optimizer)
    return new.detach(), before["exp_avg"], before["exp_avg_sq"]
