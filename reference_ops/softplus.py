"""softplus: log(1 + exp(beta x)) / beta, or x where beta x > threshold.

Shapes: x any; y as x.
Gradient: g sigmoid(beta x), or g where beta x > threshold.
Kinks: beta x = threshold (a step, of log(1 + exp(-threshold)) / beta).
Source: Dugas et al., Incorporating Second-Order Functional Knowledge for Better Option Pricing (2001).
PyTorch: torch.nn.functional.softplus. ONNX: Softplus (beta = 1, no threshold).
ggml: ggml_softplus (beta = 1, threshold = 20).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid, softplus

TRAITS = ("pointwise",)


def forward(x: Array, *, beta: float = 1.0, threshold: float = 20.0) -> Array:
    z = beta * x
    return np.where(z > threshold, x, softplus(z) / beta)


def vjp(g: Array, y: Array, x: Array, *, beta: float = 1.0, threshold: float = 20.0) -> Array:
    z = beta * x
    return np.where(z > threshold, g, g * sigmoid(z))


def kinks(x: Array, *, beta: float = 1.0, threshold: float = 20.0) -> Array:
    return np.abs(x - threshold / beta)


def torch(torch: Any, x: Any, *, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return torch.nn.functional.softplus(x, beta, threshold)
