"""gelu: x Φ(x), Φ the normal distribution function, or its tanh approximation.

"none": x (1 + erf(x / √2)) / 2. "tanh": x (1 + tanh u) / 2 with u = √(2/π) (x + 0.044715 x³).

Shapes: x any; y as x.
Gradient: "none": g (Φ(x) + x φ(x)), φ the normal density.
"tanh": g ((1 + t) / 2 + x (1 - t²) u' / 2) with t = tanh u and u' = √(2/π) (1 + 3 · 0.044715 x²).
Source: Hendrycks, Gimpel, Gaussian Error Linear Units (2016).
PyTorch: torch.nn.functional.gelu. ONNX: Gelu. ggml: ggml_gelu_erf ("none"), ggml_gelu ("tanh").
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import erf

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("gelu_quick",)

_C = math.sqrt(2 / math.pi)
_CUBIC = 0.044715
_MOST = 2.0**1000


def forward(x: Array, *, approximate: str = "none") -> Array:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(_C * (x + _CUBIC * (x * x * x))))  # type: ignore[no-any-return]
    return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))  # type: ignore[no-any-return]


def conventions(x: Array, *, approximate: str = "none") -> Iterator[Array]:
    yield np.where(x == -np.inf, 0, forward(x, approximate=approximate))  # the limit


def vjp(g: Array, y: Array, x: Array, *, approximate: str = "none") -> Array:
    if approximate == "tanh":
        t = np.tanh(_C * (x + _CUBIC * (x * x * x)))
        square = np.minimum(x * x, _MOST)  # beyond it 1 - t² is 0, and 0 times infinity would be NaN
        return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (_C * (1 + 3 * _CUBIC * square)))  # type: ignore[no-any-return]
    cdf = 0.5 * (1 + erf(x * math.sqrt(0.5)))
    pdf = np.exp(-0.5 * (x * x)) / math.sqrt(2 * math.pi)
    return g * (cdf + x * pdf)


def torch(torch: Any, x: Any, *, approximate: str = "none") -> Any:
    return torch.nn.functional.gelu(x, approximate=approximate)
