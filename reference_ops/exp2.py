"""exp2: 2ˣ.

Shapes: x any; y as x.
Gradient: from the saved output, g y ln 2.
Source: elementary.
PyTorch: torch.exp2. ONNX: none (Pow with base 2). ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("pointwise",)
NEIGHBOURS = ("exp",)


def forward(x: Array) -> Array:
    return np.exp2(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * (y * math.log(2))  # g y may overflow alone


def torch(torch: Any, x: Any) -> Any:
    return torch.exp2(x)
