"""threshold: x where x > threshold, else value.

Shapes: x any; y as x.
Gradient: g where x > threshold, else 0 (so 0 at the threshold, as PyTorch).
Kinks: x = threshold (a step, unless value is threshold).
Source: PyTorch's documentation of Threshold.
PyTorch: torch.nn.functional.threshold. ONNX: ThresholdedRelu (value = 0). ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)


def forward(x: Array, *, threshold: float, value: float) -> Array:
    return np.where((x <= threshold), value, x)


def conventions(x: Array, *, threshold: float, value: float) -> Iterator[Array]:
    yield np.where(x > threshold, x, value)  # NaN is not above the threshold


def vjp(g: Array, y: Array, x: Array, *, threshold: float, value: float) -> Array:
    return np.where(x <= threshold, 0, g)


def kinks(x: Array, *, threshold: float, value: float) -> Array:
    return np.abs(x - threshold)


def torch(torch: Any, x: Any, *, threshold: float, value: float) -> Any:
    return torch.nn.functional.threshold(x, threshold, value)
