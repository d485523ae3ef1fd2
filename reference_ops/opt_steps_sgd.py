"""opt_steps_sgd: k steps of gradient descent with momentum.

    g = grads[i] + weight_decay param
    b' = momentum b + (1 - dampening) g
    param' = param - lr b', or param - lr (g + momentum b') where nesterov

Shapes: param and momentum_buffer alike, grads (k, ...) one gradient a step; outputs as param:
the parameters after k steps, momentum_buffer.
Gradient: none, a step is not differentiated.
Source: Sutskever et al., On the importance of initialization and momentum in deep learning (2013), as PyTorch.
PyTorch: torch.optim.SGD (momentum above 0). ONNX: Momentum (one step). ggml: ggml_opt_step_sgd (one step, no momentum).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(...),(s<9,...),(...)"
OUTPUTS = ("param", "momentum_buffer")
IN_PLACE = ("param",)


def forward(
    param: Array,
    grads: Array,
    momentum_buffer: Array,
    *,
    lr: float,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
) -> tuple[Array, Array]:
    for given in grads:
        grad = given + weight_decay * param
        momentum_buffer = momentum * momentum_buffer + (1 - dampening) * grad
        param = param - lr * (grad + momentum * momentum_buffer if nesterov else momentum_buffer)
    return param, momentum_buffer


def torch(
    torch: Any,
    param: Any,
    grads: Any,
    momentum_buffer: Any,
    *,
    lr: float,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
) -> tuple[Any, Any]:
    # torch.optim.SGD keeps no buffer where momentum is 0: the definition, in its own words.
    p, gradients, buffer = widened(torch, param, grads, momentum_buffer)
    for given in gradients:
        grad = given.add(p, alpha=weight_decay)
        buffer = buffer.mul(momentum).add(grad, alpha=1 - dampening)
        p = p.sub(grad.add(buffer, alpha=momentum) if nesterov else buffer, alpha=lr)
    return p.to(param.dtype), buffer.to(param.dtype)
