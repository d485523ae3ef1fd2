"""lgamma: log |Γ(x)|, infinite at 0, -1, -2 and so on.

Shapes: x any; y as x.
Gradient: g ψ(x), ψ the digamma function.
Source: Abramowitz, Stegun, Handbook of Mathematical Functions (1964), 6.1.
PyTorch: torch.lgamma. ONNX: none. ggml: none.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import digamma, log_gamma

BEYOND = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("digamma",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": (0.0, math.inf)}


def forward(x: Array) -> Array:
    return np.where(x == -math.inf, math.inf, log_gamma(x))


def conventions(x: Array) -> Iterator[Array]:
    yield np.where(x == -math.inf, -math.inf, forward(x))  # what it tends to between the poles, as SciPy's gammaln


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * digamma(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.lgamma(x)
