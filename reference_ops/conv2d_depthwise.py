"""conv2d_depthwise: every channel of x correlated with a kernel of its own, over two axes.

Shapes: x (n, c, h, w), weight (c, 1, kh, kw), bias (c,) or none; y (n, c, *out) with out as in conv2d.
Gradient: that of conv2d with as many groups as channels.
Source: Chollet, Xception: Deep Learning with Depthwise Separable Convolutions (2017).
PyTorch: torch.nn.functional.conv2d (groups = c). ONNX: Conv (group = c). ggml: ggml_conv_2d_dw (no bias).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._conv import conv, conv_vjp, geometry
from opproof.reference_ops._windows import Sizes

SIGNATURE = "(n,c,h,w),(c,1,kh<8,kw<8),(c)?"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": -4, "y": -4}, {"x": -3, "weight": -4, "bias": -1, "y": -3}]


def forward(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
) -> Array:
    return conv(x, weight, bias, geometry(2, stride, padding, dilation, x.shape[1]))


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
) -> tuple[Array, Array, Array | None]:
    return conv_vjp(g, x, weight, bias, geometry(2, stride, padding, dilation, x.shape[1]))


def torch(
    torch: Any,
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
) -> Any:
    return torch.nn.functional.conv2d(x, weight, bias, stride, padding, dilation, groups=x.shape[1])
