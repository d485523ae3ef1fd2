"""conv_transpose3d: the transpose of conv3d as a linear map, over three axes: every cell of x adds its kernel to y.

Shapes: x (n, c, d, h, w), weight (c, o / groups, kd, kh, kw), bias (o,) or none; y (n, o, *out) with
out = (size - 1) stride - 2 padding + dilation (k - 1) + output_padding + 1; parameters are a number or one per axis.
Gradient: dx = conv3d of g with the same weight; dweight = the windows of g times x, summed over batch and
positions; dbias = g summed over batch and positions.
Source: Dumoulin, Visin, A guide to convolution arithmetic for deep learning (2016), chapter 4.
PyTorch: torch.nn.functional.conv_transpose3d. ONNX: ConvTranspose. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._conv import conv_transpose, conv_transpose_vjp, geometry
from opproof.reference_ops._windows import Sizes, per_axis

SIGNATURE = "(n,groups*c,d<17,h<33,w),(groups*c,o,kd<4,kh<4,kw<4),(groups*o)?"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum",)


def forward(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Array:
    how = geometry(3, stride, padding, dilation, groups)
    return conv_transpose(x, weight, bias, how, per_axis(output_padding, 3))


def vjp(
    g: Array,
    y: Array,
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> tuple[Array, Array, Array | None]:
    return conv_transpose_vjp(g, x, weight, bias, geometry(3, stride, padding, dilation, groups))


def torch(
    torch: Any,
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Any:
    function = torch.nn.functional.conv_transpose3d
    return function(x, weight, bias, stride, padding, output_padding, groups, dilation)
