"""nan_to_num: x with the number `nan` for NaN, `posinf` for inf and `neginf` for -inf.

Shapes: x any; y as x.
Libraries that are given no `posinf` take the largest number of the dtype: here it is always given.
Gradient: g where x is finite, 0 elsewhere.
Source: NumPy's documentation of numpy.nan_to_num.
PyTorch: torch.nan_to_num. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("vjp",)
TRIVIAL = {"forward": ("copy", "constant"), "vjp": ("copy",)}  # where all numbers are finite, or nearly all
TRAITS = ("pointwise",)


def forward(x: Array, *, nan: float = 0.0, posinf: float, neginf: float) -> Array:
    finite = np.where(x == -np.inf, neginf, np.where(x == np.inf, posinf, x))
    return np.where(np.isnan(x), nan, finite)


def vjp(g: Array, y: Array, x: Array, *, nan: float = 0.0, posinf: float, neginf: float) -> Array:
    return np.where(np.isfinite(x), g, 0)


def torch(torch: Any, x: Any, *, nan: float = 0.0, posinf: float, neginf: float) -> Any:
    return torch.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
