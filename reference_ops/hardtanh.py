"""hardtanh: min(max(x, min_val), max_val).

Shapes: x any; y as x.
Gradient: g where min_val < x < max_val, else 0 (so 0 on the bounds, as PyTorch; clamp differs).
At NaN it is 0 (PyTorch: g).
Kinks: x = min_val and x = max_val.
Source: Collobert, Large Scale Machine Learning (2004).
PyTorch: torch.nn.functional.hardtanh. ONNX: Clip. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)


def forward(x: Array, *, min_val: float = -1.0, max_val: float = 1.0) -> Array:
    if min_val > max_val:
        raise ValueError(f"hardtanh asks for bounds in order, they are {min_val} and {max_val}")
    return np.minimum(np.maximum(x, min_val), max_val)


def vjp(g: Array, y: Array, x: Array, *, min_val: float = -1.0, max_val: float = 1.0) -> Array:
    return np.where((x > min_val) & (x < max_val), g, 0)


def kinks(x: Array, *, min_val: float = -1.0, max_val: float = 1.0) -> Array:
    return np.minimum(np.abs(x - min_val), np.abs(x - max_val))


def torch(torch: Any, x: Any, *, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    return torch.nn.functional.hardtanh(x, min_val, max_val)
