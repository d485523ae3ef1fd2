"""clamp: min(max(x, min), max), a bound that is None does not bound.

Shapes: x any; y as x. Where min > max, y is max (as PyTorch).
Gradient: g where min <= x <= max, else 0 (so g on the bounds, as PyTorch).
Kinks: x = min and x = max.
Source: PyTorch's documentation of torch.clamp.
PyTorch: torch.clamp. ONNX: Clip. ggml: ggml_clamp (in place).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, min: float | None = None, max: float | None = None) -> Array:
    low = x if min is None else np.maximum(x, min)
    return low if max is None else np.minimum(low, max)


def vjp(g: Array, y: Array, x: Array, *, min: float | None = None, max: float | None = None) -> Array:
    low, high = -np.inf if min is None else min, np.inf if max is None else max
    return np.where((x >= low) & (x <= high), g, 0)


def kinks(x: Array, *, min: float | None = None, max: float | None = None) -> Array:
    low, high = -np.inf if min is None else min, np.inf if max is None else max
    return np.minimum(np.abs(x - low), np.abs(x - high))


def torch(torch: Any, x: Any, *, min: float | None = None, max: float | None = None) -> Any:
    return torch.clamp(x, min, max)
