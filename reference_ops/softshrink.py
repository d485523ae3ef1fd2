"""softshrink: x - lambd where x > lambd, x + lambd where x < -lambd, 0 between.

Shapes: x any; y as x.
Gradient: 0 where |x| <= lambd, else g (so g at NaN, PyTorch 0).
Kinks: x = ±lambd.
Source: Donoho, Johnstone, Ideal spatial adaptation by wavelet shrinkage (1994).
PyTorch: torch.nn.functional.softshrink. ONNX: Shrink (bias = lambd). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("vjp",)
TRAITS = ("pointwise",)
NEIGHBOURS = ("hardshrink",)


def forward(x: Array, *, lambd: float = 0.5) -> Array:
    return np.where(np.abs(x) <= lambd, 0, x - lambd * np.sign(x))


def vjp(g: Array, y: Array, x: Array, *, lambd: float = 0.5) -> Array:
    return np.where(np.abs(x) <= lambd, 0, g)


def kinks(x: Array, *, lambd: float = 0.5) -> Array:
    return np.abs(np.abs(x) - lambd)


def torch(torch: Any, x: Any, *, lambd: float = 0.5) -> Any:
    return torch.nn.functional.softshrink(x, lambd)
