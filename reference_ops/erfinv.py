"""erfinv: the number whose erf is x; infinite at ±1, NaN beyond.

Shapes: x any; y as x.
Gradient: from the saved output, g √π/2 exp(y²).
Source: Blair, Edwards, Johnson, Rational Chebyshev approximations for the inverse of the error function (1976).
PyTorch: torch.erfinv. ONNX: none. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import erfinv

BEYOND = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("erf", "atanh")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (-1.0, 1.0)}


def forward(x: Array) -> Array:
    return erfinv(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * (math.sqrt(math.pi) / 2) * np.exp(y * y)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.erfinv(x)
