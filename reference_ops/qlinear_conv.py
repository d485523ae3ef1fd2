"""qlinear_conv: correlation of a quantised image with quantised weights, quantised again: rounded once.

Shapes: x (n, c, h, w) uint8, codes of `type`; weight (o, c / groups, kh, kw) uint8, codes of `weight_type`: i8 (two's
complement) or u8; x_scale, x_zero_point, y_scale, y_zero_point 0d; weight_scale and weight_zero_point 0d or (o,); bias
(o,) integers in units of x_scale weight_scale, or none; y (n, o, *out) uint8, codes of `type`: the nearest to the sums
of (x - x_zero_point) (weight - weight_zero_point), plus bias, times x_scale weight_scale / y_scale, ties to even, plus
y_zero_point, what is too large saturated. Padding is x's zero point.
Gradient: none, codes have none.
Source: ONNX, QLinearConv; Jacob et al., Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference (2018), section 2.2.
PyTorch: torch.ops.quantized.conv2d (of u8 with i8). ONNX: QLinearConv. ggml: none.
"""

import math
from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import _codes as codes
from opproof.reference_ops._conv import conv, geometry
from opproof.reference_ops._integers import (
    RESULTS,
    ZEROS,
    centred,
    per_channel,
    requantized,
    result_scales,
    scales,
    sums_of,
    torch_centred,
    torch_requantized,
)
from opproof.reference_ops._windows import Sizes

SIGNATURE = "(n,groups*c,h,w),(),(),(groups*o,c,kh<6,kw<6),(),(),(),(),(groups*o)?"
EXACT = ("forward",)
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    kind, other = params["type"], params["weight_type"]
    terms = math.prod(shapes["weight"][1:])
    drawn: dict[str, Any] = {"x": codes.weights(kind), "weight": codes.weights(other)}
    drawn |= {"x_scale": scales(terms, fine=True), "weight_scale": scales(terms, fine=False)}
    zeros = {"x_zero_point": ZEROS[kind], "weight_zero_point": ZEROS[other], "y_zero_point": RESULTS[kind]}
    most = round(sums_of(kind, other, terms=terms))
    return {**drawn, **zeros, "bias": range(-most, most + 1), "y_scale": result_scales(kind, other, terms=terms)}


def forward(
    x: Array, x_scale: Array, x_zero_point: Array, weight: Array, weight_scale: Array, weight_zero_point: Array,
    y_scale: Array, y_zero_point: Array, bias: Array | None = None, *, type: str, weight_type: str, stride: Sizes = 1,
    padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1,
) -> Array:  # fmt: skip
    kernels = centred(weight, per_channel(weight_zero_point), weight_type)
    how = geometry(2, stride, padding, dilation, groups)
    sums = conv(centred(x, x_zero_point, type), kernels, bias, how)
    return requantized(sums, x_scale * per_channel(weight_scale, 2) / y_scale, y_zero_point, type)


def torch(
    torch: Any, x: Any, x_scale: Any, x_zero_point: Any, weight: Any, weight_scale: Any, weight_zero_point: Any,
    y_scale: Any, y_zero_point: Any, bias: Any = None, *, type: str, weight_type: str, stride: Sizes = 1,
    padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1,
) -> Any:  # fmt: skip
    kernels = torch_centred(torch, weight, per_channel(weight_zero_point), weight_type)
    image = torch_centred(torch, x, x_zero_point, type)
    wide = None if bias is None else bias.to(torch.float64)
    sums = torch.nn.functional.conv2d(image, kernels, wide, stride, padding, dilation, groups).round()
    scale = x_scale.to(torch.float64) * per_channel(weight_scale, 2).to(torch.float64) / y_scale.to(torch.float64)
    return torch_requantized(torch, sums, scale, y_zero_point, type)
