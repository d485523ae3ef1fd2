"""logsigmoid: log(1 / (1 + e⁻ˣ)) = min(x, 0) - log(1 + e⁻|ˣ|).

Shapes: x any; y as x.
Gradient: g sigmoid(-x).
Source: the logarithm of the logistic function; PyTorch's documentation of LogSigmoid.
PyTorch: torch.nn.functional.logsigmoid. ONNX: none (Log of Sigmoid). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid

TRAITS = ("pointwise",)


def forward(x: Array) -> Array:
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * sigmoid(-x)


def torch(torch: Any, x: Any) -> Any:
    return torch.nn.functional.logsigmoid(x)
