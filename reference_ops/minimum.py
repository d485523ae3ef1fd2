"""minimum: the smaller of a and b; NaN where either is (as PyTorch).

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: g to the smaller one, half to each at ties (as PyTorch), each summed
over the axes along which its tensor was broadcast. 0 to both where one is NaN (PyTorch: g to both).
Kinks: ties, a = b.
Source: PyTorch's documentation of torch.minimum (halves at ties).
PyTorch: torch.minimum. ONNX: Min. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import nearest, unbroadcast

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts", "ordered")
SIGNED_ZEROS = True
KINDS = ("float8", "signed", "unsigned")
NEIGHBOURS = ("maximum",)


def forward(a: Array, b: Array) -> Array:
    both = (a == 0) & (b == 0)  # -0 where either is, as IEEE 754-2019 has it and NumPy has not
    return np.where(both, -(np.where(both, -a, 0) + np.where(both, -b, 0)), np.minimum(a, b))


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    tied = np.where(a == b, 0.5 * g, 0)
    da, db = np.where(a < b, g, tied), np.where(b < a, g, tied)
    return unbroadcast(da, a.shape), unbroadcast(db, b.shape)


def kinks(a: Array, b: Array) -> Array:
    return nearest(np.abs(a - b), a.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.minimum(a, b)
