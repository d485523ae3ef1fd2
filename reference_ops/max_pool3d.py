"""max_pool3d: the largest element of every window over three axes, and where it stands.

Shapes: x (n, c, d, h, w); y (n, c, *out) and indices int64 of the same shape, the winner's position in its volume,
plane by plane and row by row; the first among ties. stride None is kernel_size; padding never wins;
ceil_mode lets a window hang over.
padding is one number, one an axis, or two an axis: those before every axis, then those after, as ONNX's pads.
Gradient: g to the winner of each window, summed where it won several.
Kinks: ties inside a window.
Source: PyTorch's documentation of torch.nn.MaxPool3d.
PyTorch: torch.nn.functional.max_pool3d (return_indices). ONNX: MaxPool.
ggml: none.
"""

from collections.abc import Iterator
from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._one_sided import max_pool as max_pool_one_sided
from opproof.reference_ops._one_sided import symmetric
from opproof.reference_ops._pool import max_pool, max_pool_kinks, max_pool_vjp, max_pools_with_nan, pool
from opproof.reference_ops._windows import Sizes

SIGNATURE = "(n,c,d<33,h,w)"
EXACT = ("forward",)
OUTPUTS = ("y", "indices")
ON_REQUEST = ("indices",)
TRAITS = ("ordered", "pools")


def forward(
    x: Array,
    *,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    return max_pool(x, pool(x.shape[2:], kernel_size, stride, padding, ceil_mode, dilation))


def conventions(
    x: Array,
    *,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> Iterator[tuple[Array, Array]]:
    return max_pools_with_nan(x, pool(x.shape[2:], kernel_size, stride, padding, ceil_mode, dilation))


def vjp(
    g: tuple[Array, Any],
    y: tuple[Array, Array],
    x: Array,
    *,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> Array:
    return max_pool_vjp(g[0], x, pool(x.shape[2:], kernel_size, stride, padding, ceil_mode, dilation))


def kinks(
    x: Array,
    *,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> Array:
    return max_pool_kinks(x, pool(x.shape[2:], kernel_size, stride, padding, ceil_mode, dilation))


def torch(
    torch: Any,
    x: Any,
    *,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> Any:
    if not symmetric(padding, 3):
        return max_pool_one_sided(torch, x, padding, kernel_size, stride, dilation, ceil_mode)
    function = torch.nn.functional.max_pool3d
    return function(x, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode, return_indices=True)
