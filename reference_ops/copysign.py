"""copysign: the size of a with the sign of b, of zeros too.

Shapes: a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g where a and b have one sign, -g where they have not, 0 where a is 0. None for b, whose sign alone
counts.
Kinks: a = 0.
Source: IEEE 754-2019, 5.5.1.
PyTorch: torch.copysign. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

EXACT = ("forward",)
TRIVIAL = {"forward": ("copy",), "vjp": ("copy",)}  # where all signs agree
TRAITS = ("pointwise", "broadcasts", "jumps at zero")
SIGNED_ZEROS = True


def forward(a: Array, b: Array) -> Array:
    return np.copysign(a, b)


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, None]:
    turned = np.sign(a) * np.copysign(np.ones_like(b), b)
    return unbroadcast(g * turned, a.shape), None


def kinks(a: Array, b: Array) -> Array:
    return np.abs(a)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.copysign(a, b)
