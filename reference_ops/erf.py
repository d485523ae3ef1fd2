"""erf: 2/√π ∫₀ˣ exp(-t²) dt.

Shapes: x any; y as x.
Gradient: g 2/√π exp(-x²).
Source: Abramowitz, Stegun, Handbook of Mathematical Functions (1964), 7.1.1.
PyTorch: torch.erf. ONNX: Erf. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import erf

ANALYTIC = True
TRAITS = ("pointwise",)


def forward(x: Array) -> Array:
    return erf(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * (2 / math.sqrt(math.pi)) * np.exp(-(x * x))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.erf(x)
