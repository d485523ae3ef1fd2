"""floor_divide: floor(a / b), of the exact quotient.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: zero everywhere.
Kinks: multiples of b (steps); none are reported where |a / b| is past 1024.
Source: Knuth, The Art of Computer Programming 1, 1.2.4 (floored division).
PyTorch: torch.floor_divide, torch.div(rounding_mode="floor"). ONNX: none. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import nearest

EXACT = ("vjp",)
TRIVIAL = {"vjp": ("zeros", "constant")}
TRAITS = ("pointwise", "broadcasts", "jumps at zero")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("div",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"b": "nonzero"}


def forward(a: Array, b: Array) -> Array:
    return np.floor_divide(a, b)


def conventions(a: Array, b: Array) -> Iterator[Array]:
    yield np.floor(a / b)  # an infinite quotient stays infinite, where Python's has no remainder and is NaN


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.zeros_like(a), np.zeros_like(b)


def kinks(a: Array, b: Array) -> Array:
    q = a / b
    distance = np.where(np.abs(q) < 1024, np.abs(b) * np.abs(q - np.rint(q)), np.inf)
    return nearest(distance, a.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    # torch.floor_divide has no derivative, not even zero.
    return torch.div(a, b, rounding_mode="floor")
