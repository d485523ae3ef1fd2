"""leaky_relu: x where x > 0, negative_slope x elsewhere.

Shapes: x any; y as x.
Gradient: g where x > 0, negative_slope g elsewhere (so negative_slope at 0, as PyTorch).
Kinks: x = 0, unless negative_slope is 1.
Source: Maas, Hannun, Ng, Rectifier Nonlinearities Improve Neural Network Acoustic Models (2013).
PyTorch: torch.nn.functional.leaky_relu. ONNX: LeakyRelu (alpha). ggml: ggml_leaky_relu.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("pointwise",)


def forward(x: Array, *, negative_slope: float = 0.01) -> Array:
    return np.where(x > 0, x, negative_slope * x)


def vjp(g: Array, y: Array, x: Array, *, negative_slope: float = 0.01) -> Array:
    return np.where(x > 0, g, negative_slope * g)


def kinks(x: Array, *, negative_slope: float = 0.01) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any, *, negative_slope: float = 0.01) -> Any:
    return torch.nn.functional.leaky_relu(x, negative_slope)
