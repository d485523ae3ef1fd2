"""logaddexp: log(eᵃ + eᵇ), without overflow.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g eᵃ⁻ʸ = g / (1 + eᵇ⁻ᵃ) and db = g / (1 + eᵃ⁻ᵇ), each summed over the axes
along which its tensor was broadcast. Half to each where both are the same infinity (PyTorch: NaN).
Source: Blanchard, Higham, Higham, Accurately computing the log-sum-exp and softmax functions (2021).
PyTorch: torch.logaddexp. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid, unbroadcast

TRAITS = ("pointwise", "broadcasts")
NEIGHBOURS = ("maximum",)


def forward(a: Array, b: Array) -> Array:
    return np.logaddexp(a, b)


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    same = (a == b) & np.isinf(a)
    apart = np.where(same, 0, a - np.where(same, 0, b))
    return unbroadcast(g * sigmoid(apart), a.shape), unbroadcast(g * sigmoid(-apart), b.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.logaddexp(a, b)
