"""celu: x where x > 0, alpha (exp(x / alpha) - 1) elsewhere; alpha > 0.

Shapes: x any; y as x.
Gradient: g where x > 0, exp(x / alpha) g elsewhere (so NaN at NaN, PyTorch g).
Kinks: x = 0, of the second derivative only.
Source: Barron, Continuously Differentiable Exponential Linear Units (2017).
PyTorch: torch.nn.functional.celu. ONNX: Celu. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import rounding

TRAITS = ("pointwise",)
NEIGHBOURS = ("elu",)


def forward(x: Array, *, alpha: float = 1.0) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


def vjp(g: Array, y: Array, x: Array, *, alpha: float = 1.0) -> Array:
    # From the saved output, g (y / alpha + 1), without its cancellation, as elu.
    return np.where(x > 0, g, g * (np.exp(np.minimum(x, 0) / alpha) + rounding(y, forward(x, alpha=alpha)) / alpha))


def kinks(x: Array, *, alpha: float = 1.0) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any, *, alpha: float = 1.0) -> Any:
    # The gradient of celu rounds 1 / alpha to float32, which would hide an error of ours: a composite proves the
    # reference in float64. The backend calls celu itself (backends/torch), and its ledger holds the defect.
    if x.dtype == torch.float64:
        return alpha * torch.nn.functional.elu(x / alpha)
    return torch.nn.functional.celu(x, alpha)
