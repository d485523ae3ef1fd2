"""opt_step_sgd: param (1 - lr weight_decay) - lr grad, one step of gradient descent with weight decay.

Shapes: param and grad alike; y as param, the new parameters.
Of an infinite param it is NaN where the weight decay is added to grad first: inf - inf.
Gradient: none, a step is not differentiated.
Source: Robbins, Monro, A Stochastic Approximation Method (1951); weight decay as PyTorch and ggml.
PyTorch: torch.optim.SGD. ONNX: none. ggml: ggml_opt_step_sgd (in place; sgd_params = lr, weight_decay).
"""

from collections.abc import Iterator
from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._torch import step_once

APART = True
SIGNATURE = "(...),(...)"
TRAITS = ("pointwise",)
IN_PLACE = ("param",)


def forward(param: Array, grad: Array, *, lr: float, weight_decay: float = 0.0) -> Array:
    return param * (1 - lr * weight_decay) - lr * grad


def conventions(param: Array, grad: Array, *, lr: float, weight_decay: float = 0.0) -> Iterator[Array]:
    yield param - lr * (grad + weight_decay * param)  # as PyTorch's documentation of SGD has it


def torch(torch: Any, param: Any, grad: Any, *, lr: float, weight_decay: float = 0.0) -> Any:
    new = torch.nn.Parameter(param.detach().clone())
    new.grad = grad
    step_once(torch, torch.optim.SGD([new], lr=lr, weight_decay=weight_decay))
    return new.detach()
