"""avg_pool1d: the mean of every window over an axis.

Shapes: x (n, c, l); y (n, c, *out). stride None is kernel_size; ceil_mode lets a window hang over the end.
Each sum is divided by the window's cells on x and its padding, or on x alone where not count_include_pad.
padding is one number, one an axis, or two an axis: those before every axis, then those after, as ONNX's pads.
Gradient: g over that divisor, to every cell of its window; cells that no window covers get zero.
Source: PyTorch's documentation of torch.nn.AvgPool1d.
PyTorch: torch.nn.functional.avg_pool1d. ONNX: AveragePool. ggml: ggml_pool_1d (GGML_OP_POOL_AVG).
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._one_sided import avg_pool as avg_pool_one_sided
from opproof.reference_ops._one_sided import symmetric
from opproof.reference_ops._pool import avg_pool, avg_pool_vjp, divisors, pool
from opproof.reference_ops._windows import Sizes

SIGNATURE = "(n,c,l)"
ANALYTIC = True
TRAITS = ("long sum", "pools")


def forward(
    x: Array,
    *,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    how = pool(x.shape[2:], kernel_size, stride, padding, ceil_mode)
    return avg_pool(x, how, divisors(x.shape[2:], how, count_include_pad, None))


def vjp(
    g: Array,
    y: Array,
    x: Array,
    *,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    how = pool(x.shape[2:], kernel_size, stride, padding, ceil_mode)
    return avg_pool_vjp(g, x, how, divisors(x.shape[2:], how, count_include_pad, None))


def torch(
    torch: Any,
    x: Any,
    *,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    if not symmetric(padding, 1):
        return avg_pool_one_sided(torch, x, padding, kernel_size, stride, ceil_mode, count_include_pad)
    function = torch.nn.functional.avg_pool1d
    return function(x, kernel_size, stride, padding, ceil_mode, count_include_pad)
