"""conv_integer: correlation of 8-bit integers with 8-bit weights over two axes, each less its zero point.

Shapes: x (n, c, h, w) uint8, codes of `type`; weight (o, c / groups, kh, kw) uint8, codes of `weight_type`: i8 (two's
complement) or u8; x_zero_point 0d or none; weight_zero_point 0d, (o,) or none; y (n, o, *out) integers, of at least 32
bits, with out = floor((size + 2 padding - dilation (k - 1) - 1) / stride) + 1. Padding is x's zero point.
Gradient: none, the inputs are integers.
Source: ONNX, ConvInteger; Dumoulin, Visin, A guide to convolution arithmetic for deep learning (2016).
PyTorch: none (torch.nn.functional.conv2d of the integers). ONNX: ConvInteger. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import _codes as codes
from opproof.reference_ops._conv import conv, geometry
from opproof.reference_ops._integers import ZEROS, centred, integers, per_channel, torch_centred
from opproof.reference_ops._windows import Sizes

SIGNATURE = "(n,groups*c,h,w),(groups*o,c,kh<6,kw<6),()?,()?"
EXACT = ("forward",)
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    kind, other = params["type"], params["weight_type"]
    drawn = {"x": codes.weights(kind), "weight": codes.weights(other)}
    return {**drawn, "x_zero_point": ZEROS[kind], "weight_zero_point": ZEROS[other]}


def forward(
    x: Array, weight: Array, x_zero_point: Array | None = None, weight_zero_point: Array | None = None, *, type: str,
    weight_type: str, stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1,
) -> Array:  # fmt: skip
    kernels = centred(weight, per_channel(weight_zero_point), weight_type)
    how = geometry(2, stride, padding, dilation, groups)
    return integers(conv(centred(x, x_zero_point, type), kernels, None, how))


def torch(
    torch: Any, x: Any, weight: Any, x_zero_point: Any = None, weight_zero_point: Any = None, *, type: str,
    weight_type: str, stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1,
) -> Any:  # fmt: skip
    kernels = torch_centred(torch, weight, per_channel(weight_zero_point), weight_type)
    image = torch_centred(torch, x, x_zero_point, type)
    sums = torch.nn.functional.conv2d(image, kernels, None, stride, padding, dilation, groups)
    return torch.round(sums).to(torch.int64)
