"""fmod: the remainder of a / b with the sign of a, a - b trunc(a / b).

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g and db = -g trunc(a / b), each summed
over the axes along which its tensor was broadcast.
Kinks: multiples of b other than 0 (steps); none are reported where |a / b| is past 1024.
Source: ISO C fmod (exact in floating point).
PyTorch: torch.fmod. ONNX: Mod (fmod = 1). ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import nearest, unbroadcast
from opproof.reference_ops._passed import quotient

EXACT = ("forward",)
TRIVIAL = {"vjp": ("copy",)}
TWIN_ERRS = ("a=9x33;b=9x33;fill=limits",)  # NaN where the quotient overflows
TRAITS = ("pointwise", "broadcasts", "jumps at zero")
PAIRS = True
SIGNED_ZEROS = True
KINDS = ("signed", "unsigned")
NEIGHBOURS = ("remainder",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"b": "nonzero"}


def forward(a: Array, b: Array) -> Array:
    return np.fmod(a, b)


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    # The quotient rounds: 1.0 / 0.1 is 10, of which the whole part of the exact one is 9.
    whole = np.floor_divide(np.abs(a), np.abs(b)) * np.sign(a) * np.sign(b)
    whole = np.where(b == 0, np.trunc(a / b), whole)
    return unbroadcast(g, a.shape), unbroadcast(-g * whole, b.shape)


def kinks(a: Array, b: Array) -> Array:
    q = np.abs(a / b)
    distance = np.where(q < 1024, np.abs(b) * np.abs(q - np.maximum(np.rint(q), 1)), np.inf)
    return nearest(distance, a.shape)


def partials(a: Array, b: Array) -> Iterator[Array]:
    return quotient(a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.fmod(a, b)
