"""elu: x where x > 0, alpha (eˣ - 1) elsewhere.

Shapes: x any; y as x.
Gradient: g where x > 0, alpha eˣ g elsewhere (so alpha at 0, as PyTorch; NaN at NaN, PyTorch g).
Kinks: x = 0 (of the second derivative only where alpha is 1).
Source: Clevert, Unterthiner, Hochreiter, Fast and Accurate Deep Network Learning by Exponential Linear Units (2016).
PyTorch: torch.nn.functional.elu. ONNX: Elu. ggml: ggml_elu (alpha = 1).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import rounding

TRAITS = ("pointwise",)
NEIGHBOURS = ("selu", "celu")


def forward(x: Array, *, alpha: float = 1.0) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def vjp(g: Array, y: Array, x: Array, *, alpha: float = 1.0) -> Array:
    # From the saved output, g (y + alpha), without its cancellation: y differs from forward(x) by its rounding.
    return np.where(x > 0, g, g * (alpha * np.exp(np.minimum(x, 0)) + rounding(y, forward(x, alpha=alpha))))


def kinks(x: Array, *, alpha: float = 1.0) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any, *, alpha: float = 1.0) -> Any:
    return torch.nn.functional.elu(x, alpha)
