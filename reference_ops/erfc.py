"""erfc: 1 - erf(x), which keeps its digits where erf is nearly 1.

Shapes: x any; y as x.
Gradient: -g 2/√π exp(-x²).
Source: Abramowitz, Stegun, Handbook of Mathematical Functions (1964), 7.1.2.
PyTorch: torch.erfc, torch.special.erfc. ONNX: none. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import erfc

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("erf",)


def forward(x: Array) -> Array:
    return erfc(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return -g * (2 / math.sqrt(math.pi)) * np.exp(-(x * x))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.erfc(x)
