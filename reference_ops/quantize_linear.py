"""quantize_linear: the nearest code of x / scale, moved by a zero point; ties to even, what is too large saturated.

Shapes: x any; scale 0d (per tensor), or with an axis for each of x, of its size or of 1 (per token, per channel), the
last one also of a number of groups; zero_point as scale, integers, or none; y as x, uint8: codes of `type`, i8 (two's
complement), u8, f8e4m3 or f8e5m2. Computed in float32 at least: x / scale is rounded once, to whole numbers of codes.
Gradient: none, codes have none.
Kinks: halfway between two codes (steps).
Source: ONNX, QuantizeLinear (saturate); Jacob et al., Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference (2018), section 2.1; OCP 8-bit Floating Point Specification 1.0, table 3.
PyTorch: torch.quantize_per_tensor, torch.quantize_per_channel. ONNX: QuantizeLinear. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _codes as codes
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,n),()"
EXACT = ("forward",)
TRAITS = ("rounding",)
_ZEROS = {"i8": range(-128, 128), "u8": range(256)}
#: Digits after the first of fp8, and the exponent of its smallest normal number.
_FLOATS = {"f8e4m3": (3, -6), "f8e5m2": (2, -14)}


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"scale": (0.0, np.inf), "zero_point": _ZEROS.get(params["type"], range(1))}


def forward(x: Array, scale: Array, zero_point: Array | None = None, *, type: str) -> Array:
    q = x / codes.spread(scale, x.shape)
    moved = q if zero_point is None else np.rint(q) + codes.spread(zero_point, x.shape)
    return codes.encode(moved, type)


def kinks(x: Array, scale: Array, zero_point: Array | None = None, *, type: str) -> Array:
    step = codes.spread(scale, x.shape)
    if type in _FLOATS:
        digits, least = _FLOATS[type]
        size = np.maximum(np.floor(np.log2(np.abs(x / step) + 2.0**least)), least)
        step = step * 2.0 ** (size - digits)
    q = x / step
    return np.asarray(np.abs(q - np.floor(q) - 0.5) * step)


def torch(torch: Any, x: Any, scale: Any, zero_point: Any = None, *, type: str) -> Any:
    wide, factors = widened(torch, x, scale)
    q = wide / codes.torch_spread(factors, x.shape)
    if type in codes.LARGEST:
        kind = {"f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}[type]
        return q.clamp(-codes.LARGEST[type], codes.LARGEST[type]).to(kind).view(torch.uint8)
    moved = q.round() if zero_point is None else q.round() + codes.torch_spread(zero_point, x.shape)
    return moved.clamp(*codes.ENDS[type]).to(torch.int16).to(torch.uint8)
