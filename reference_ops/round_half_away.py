"""round_half_away: the nearest integer, halves away from zero.

Shapes: x any; y as x.
Gradient: zero everywhere.
Kinks: halves of odd integers (steps); none are reported past 64, where 16-bit floats are mostly whole.
Source: IEEE 754-2019, roundToIntegralTiesToAway; ISO C round.
PyTorch: none (torch.round takes halves to the even number). ONNX: none. ggml: ggml_round.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRIVIAL = {"vjp": ("zeros", "constant")}
TRAITS = ("pointwise", "rounding")
SIGNED_ZEROS = True
NEIGHBOURS = ("round", "trunc")


def forward(x: Array) -> Array:
    whole = np.trunc(x)  # x + 1/2 would round up what is just below a half
    more = np.abs(np.where(np.isfinite(x), x, 0) - np.where(np.isfinite(x), whole, 0)) >= 0.5
    y: Array = np.copysign(np.abs(whole) + more, x)
    return y


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.zeros_like(g)


def kinks(x: Array) -> Array:
    return np.where(np.abs(x) < 64, np.abs(x - np.floor(x) - 0.5), np.inf)


def torch(torch: Any, x: Any) -> Any:
    whole = torch.trunc(x)
    more = (x - whole).nan_to_num(nan=0.0).abs() >= 0.5
    return torch.copysign(whole.abs() + more, x.detach())
