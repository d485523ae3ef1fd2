"""xlogy: a log b, 0 where a = 0 whatever b is but NaN.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g log b, 0 where a = 0 and b <= 0, and db = g a / b, each summed over the axes
along which its tensor was broadcast.
Source: Python's scipy.special.xlogy.
PyTorch: torch.xlogy, torch.special.xlogy. ONNX: none. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

TRAITS = ("pointwise", "broadcasts")
NEIGHBOURS = ("mul",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"b": (0.0, math.inf)}


def forward(a: Array, b: Array) -> Array:
    return np.where((a == 0) & ~np.isnan(b), 0, a * np.log(b))


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    da = np.where((a == 0) & (b <= 0), 0, np.log(b))
    return unbroadcast(g * da, a.shape), unbroadcast(g * a / b, b.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.xlogy(a, b)
