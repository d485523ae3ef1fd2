"""step: 1 where x > 0, else 0 (also where x is NaN).

Shapes: x any; y as x.
Gradient: zero everywhere.
Kinks: x = 0 (a step).
Source: the Heaviside function with value 0 at 0.
PyTorch: torch.heaviside (values = 0). ONNX: none. ggml: ggml_step.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRIVIAL = {"vjp": ("zeros", "constant")}
TRAITS = ("pointwise", "jumps at zero")
NEIGHBOURS = ("sign",)


def forward(x: Array) -> Array:
    return np.where(x > 0, np.ones_like(x), 0)


def conventions(x: Array) -> Iterator[Array]:
    yield np.where(np.isnan(x), x, forward(x))  # as NumPy's heaviside


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.zeros_like(g)


def kinks(x: Array) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any) -> Any:
    # torch.heaviside has no derivative, not even zero.
    return torch.where(x > 0, torch.sign(x), torch.zeros_like(x))
