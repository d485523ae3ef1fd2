"""prelu: x where x > 0, weight x elsewhere, one weight for all or one per channel.

Shapes: x any; weight (1,) or (c,), c the size of axis 1 of x (of which there are two or more); y as x.
Gradient: dx = g where x > 0, weight g elsewhere (so weight g at 0, as PyTorch).
dweight = x g where x <= 0, summed over all axes but the channel's.
Kinks: x = 0, unless the weight is 1.
Source: He, Zhang, Ren, Sun, Delving Deep into Rectifiers (2015).
PyTorch: torch.nn.functional.prelu. ONNX: PRelu (the slope broadcasts as NumPy does). ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

SIGNATURE = "(n,c,...),(c) | (...,n),(1)"
TRAITS = ("pointwise", "broadcasts", "long sum")
IN_PLACE = ("x",)


def _per_channel(weight: Array, x: Array) -> Array:
    return np.reshape(weight, (-1,) + (1,) * (x.ndim - 2) if x.ndim > 1 else (-1,) * x.ndim)


def forward(x: Array, weight: Array) -> Array:
    return np.where(x > 0, x, _per_channel(weight, x) * x)


def conventions(x: Array, weight: Array) -> Iterator[Array]:
    yield np.where(x >= 0, x, _per_channel(weight, x) * x)  # ONNX: a zero beside an infinite weight is a zero


def vjp(g: Array, y: Array, x: Array, weight: Array) -> tuple[Array, Array]:
    slope = _per_channel(weight, x)
    dslope = unbroadcast(np.where(x > 0, 0, x * g), slope.shape)
    return np.where(x > 0, g, slope * g), np.reshape(dslope, weight.shape)


def kinks(x: Array, weight: Array) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any, weight: Any) -> Any:
    return torch.nn.functional.prelu(x, weight)
