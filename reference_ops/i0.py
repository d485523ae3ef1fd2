"""i0: the modified Bessel function of the first kind and of order 0.

Shapes: x any; y as x.
At infinities NaN, as PyTorch, or inf.
Gradient: g I₁(x).
Source: Abramowitz, Stegun, Handbook of Mathematical Functions (1964), 9.6.
PyTorch: torch.i0, torch.special.i0. ONNX: none. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import bessel_i0, bessel_i1

TRAITS = ("pointwise",)
NEIGHBOURS = ("cosh",)


def forward(x: Array) -> Array:
    return bessel_i0(x)


def conventions(x: Array) -> Iterator[Array]:
    y = forward(x)
    yield np.where(np.isinf(x), np.inf, y)  # the limit; exp(x) over sqrt(x) is NaN there


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * bessel_i1(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.i0(x)
