"""sign: -1, 0 or 1 as x is negative, zero or positive; 0 where x is NaN (as PyTorch).

Shapes: x any; y as x.
Gradient: zero everywhere.
Kinks: x = 0 (a step).
Source: the signum function; PyTorch's and ggml's comparisons make NaN 0, where NumPy keeps it.
PyTorch: torch.sign. ONNX: Sign. ggml: ggml_sgn.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRIVIAL = {"vjp": ("zeros", "constant")}
TRAITS = ("pointwise", "jumps at zero")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("step",)


def forward(x: Array) -> Array:
    return np.sign(np.where(np.isnan(x), 0, x))


def conventions(x: Array) -> Iterator[Array]:
    yield np.sign(x)  # of NaN, NaN


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.zeros_like(g)


def kinks(x: Array) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.sign(x)
