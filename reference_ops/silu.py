"""silu: x sigmoid(x).

Shapes: x any; y as x.
Gradient: g s (1 + x (1 - s)) with s = sigmoid(x).
Source: Elfwing, Uchibe, Doya, Sigmoid-Weighted Linear Units for Neural Network Function Approximation (2018).
PyTorch: torch.nn.functional.silu. ONNX: none before opset 24 (Swish). ggml: ggml_silu.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("gelu_quick", "mish")


def forward(x: Array) -> Array:
    return x * sigmoid(x)


def conventions(x: Array) -> Iterator[Array]:
    yield np.where(x == -np.inf, 0, forward(x))  # the limit


def vjp(g: Array, y: Array, x: Array) -> Array:
    s = sigmoid(x)
    return g * s * (1 + x * (1 - s))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.nn.functional.silu(x)
