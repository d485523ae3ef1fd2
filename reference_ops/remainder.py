"""remainder: the remainder of a / b with the sign of b, a - b floor(a / b).

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g and db = -g floor(a / b), each summed
over the axes along which its tensor was broadcast.
Kinks: multiples of b (steps); none are reported where |a / b| is past 1024.
Source: Knuth, The Art of Computer Programming 1, 1.2.4 (floored division).
PyTorch: torch.remainder. ONNX: Mod (integers only). ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import nearest, unbroadcast
from opproof.reference_ops._passed import quotient

TRIVIAL = {"vjp": ("copy",)}
TWIN_ERRS = ("a=9x33;b=9x33;fill=limits",)  # NaN where the quotient overflows
TRAITS = ("pointwise", "broadcasts", "jumps at zero")
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("fmod",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"b": "nonzero"}


def forward(a: Array, b: Array) -> Array:
    return np.remainder(a, b)


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    # The quotient rounds: 1.0 / 0.1 is 10, of which the whole part of the exact one is 9.
    return unbroadcast(g, a.shape), unbroadcast(-g * np.floor_divide(a, b), b.shape)


def kinks(a: Array, b: Array) -> Array:
    q = a / b
    distance = np.where(np.abs(q) < 1024, np.abs(b) * np.abs(q - np.rint(q)), np.inf)
    return nearest(distance, a.shape)


def partials(a: Array, b: Array) -> Iterator[Array]:
    return quotient(a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.remainder(a, b)
