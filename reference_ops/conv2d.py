"""conv2d: correlation of x with the weights over two axes, with stride, padding, dilation and groups.

Shapes: x (n, c, h, w), weight (o, c / groups, kh, kw), bias (o,) or none; y (n, o, *out) with
out = floor((size + 2 padding - dilation (k - 1) - 1) / stride) + 1; parameters are a number or one per axis.
Gradient: dx = the transposed convolution of g, zero in cells that no window covers; dweight = the windows of x
times g, summed over batch and positions; dbias = g summed over batch and positions.
Source: Dumoulin, Visin, A guide to convolution arithmetic for deep learning (2016).
PyTorch: torch.nn.functional.conv2d. ONNX: Conv. ggml: ggml_conv_2d (no bias, no groups).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._conv import conv, conv_vjp, geometry
from opproof.reference_ops._windows import Sizes

SIGNATURE = "(n,groups*c,h,w),(groups*o,c,kh<8,kw<8),(groups*o)?"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": -4, "y": -4}]


def forward(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Array:
    return conv(x, weight, bias, geometry(2, stride, padding, dilation, groups))


def vjp(
    g: Array,
    y: Array,
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> tuple[Array, Array, Array | None]:
    return conv_vjp(g, x, weight, bias, geometry(2, stride, padding, dilation, groups))


def torch(
    torch: Any,
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Any:
    return torch.nn.functional.conv2d(x, weight, bias, stride, padding, dilation, groups)
