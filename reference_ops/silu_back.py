"""silu_back: the gradient of silu, grad s (1 + x (1 - s)) with s = sigmoid(x).

Shapes: grad and x alike; y as x.
Gradient: dgrad = g s (1 + x (1 - s)), dx = g grad s (1 - s) (2 + x (1 - 2 s)).
Source: ggml.h, ggml_silu_back; Elfwing, Uchibe, Doya (2018).
PyTorch: none (autograd of torch.nn.functional.silu). ONNX: none. ggml: ggml_silu_back.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid
from opproof.reference_ops._torch import gradient, widened

SIGNATURE = "(...),(...)"
ANALYTIC = True
TRAITS = ("pointwise",)


def forward(grad: Array, x: Array) -> Array:
    s = sigmoid(x)
    return grad * s * (1 + x * (1 - s))  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, grad: Array, x: Array) -> tuple[Array, Array]:
    s = sigmoid(x)
    return g * s * (1 + x * (1 - s)), g * grad * s * (1 - s) * (2 + x * (1 - 2 * s))


def torch(torch: Any, grad: Any, x: Any) -> Any:
    wide, at = widened(torch, grad, x)
    return gradient(torch, torch.nn.functional.silu, at, wide).to(grad.dtype)
