"""dynamic_quantize_linear: x as codes of 8 bits, by a scale and a zero point that its own range gives.

With a and b the least and the largest of x and 0: scale = (b - a) / 255, zero_point = -a / scale, rounded, and
y = x / scale in float32, rounded, + zero_point, within 0 and 255; all rounding to even.
Shapes: x any; y as x, uint8, scale 0d as x, zero_point 0d int64. Of zeros alone scale is 0, and no case is of these.
Gradient: none, codes have none.
Kinks: halfway between two codes (steps), for all elements where the zero point lies there.
Source: ONNX, DynamicQuantizeLinear.
PyTorch: none. ONNX: DynamicQuantizeLinear. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...)"
OUTPUTS = ("y", "scale", "zero_point")
TRAITS = ("rounding",)
TRIVIAL = {"forward": ("constant",)}  # of one element
_CODES = 255
#: How often a quotient is rounded before it is a code, each time as if x were another.
_ROUNDINGS = 4


def _range(x: Array) -> tuple[Array, Array]:
    """The scale, and where the zero point lies before it is rounded."""
    least = np.minimum(np.min(x), 0)
    scale = (np.maximum(np.max(x), 0) - least) / _CODES
    return scale, -least / scale


def forward(x: Array) -> tuple[Array, Array, Array]:
    scale, place = _range(x)
    zero = np.rint(place)
    quotient = x / scale
    if not hasattr(quotient, "store"):  # no noise: a float32 quotient may be a tie that this one just misses
        quotient = np.asarray(quotient).astype(np.float32)
    codes = np.minimum(np.maximum(np.rint(quotient) + zero, 0), _CODES)
    return codes.astype(np.uint8), scale, zero.astype(np.int64)


def kinks(x: Array) -> Array:
    scale, place = _range(x)
    steps = [np.abs(q - np.floor(q) - 0.5) * scale for q in (x / scale, place)]
    return np.asarray(np.minimum(*steps)) / _ROUNDINGS


def torch(torch: Any, x: Any) -> Any:
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    least, largest = wide.min().clamp(max=0), wide.max().clamp(min=0)
    scale = (largest - least) / _CODES
    zero = torch.round(-least / scale)
    codes = torch.clamp(torch.round((wide / scale).to(torch.float32)) + zero, 0, _CODES)
    return codes.to(torch.uint8), scale.to(x.dtype), zero.to(torch.int64)
