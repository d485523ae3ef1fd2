"""dequantize_linear: (code - zero point) · scale, the number that a code stands for.

Shapes: data any, uint8: codes of `type`, i8 (two's complement), u8, f8e4m3 or f8e5m2; scale 0d (per tensor), or with an
axis for each of data, of its size or of 1 (per token, per channel), the last one also of a number of groups; zero_point
as scale, integers, or none; y as data, in the dtype of scale.
Gradient: dscale = the sums of g (code - zero point) over what shares a scale. None for codes and zero points.
Source: ONNX, DequantizeLinear (block_size for groups); Jacob et al. (2018), equation 1.
PyTorch: torch.dequantize. ONNX: DequantizeLinear. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _codes as codes
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,n),()"
BEYOND = True
ANALYTIC = True
TRAITS = ("long sum",)
_ZEROS = {"i8": range(-128, 128), "u8": range(256)}


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    zeros = _ZEROS.get(params["type"], range(1))
    return {"data": codes.weights(params["type"]), "scale": (0.0, np.inf), "zero_point": zeros}


def _moved(data: Array, zero_point: Array | None, like: Array, type: str) -> Array:
    values = codes.decode(data, type)
    moved = values if zero_point is None else values - codes.spread(zero_point, data.shape)
    return moved.astype(np.real(like).dtype)


def forward(data: Array, scale: Array, zero_point: Array | None = None, *, type: str) -> Array:
    return _moved(data, zero_point, scale, type) * codes.spread(scale, data.shape)  # type: ignore[no-any-return]


def vjp(
    g: Array, y: Array, data: Array, scale: Array, zero_point: Array | None = None, *, type: str
) -> tuple[None, Array, None]:
    return None, codes.gathered(g * _moved(data, zero_point, g, type), scale.shape), None


def torch(torch: Any, data: Any, scale: Any, zero_point: Any = None, *, type: str) -> Any:
    (factors,) = widened(torch, scale)
    values = codes.torch_values(torch, data, type).to(factors)
    moved = values if zero_point is None else values - codes.torch_spread(zero_point, data.shape)
    return (moved * codes.torch_spread(factors, data.shape)).to(scale.dtype)
