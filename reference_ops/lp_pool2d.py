"""lp_pool2d: the p-norm of every window over two axes, (sum |x|^p)^(1/p).

Shapes: x (n, c, h, w); y (n, c, *out). stride None is kernel_size; ceil_mode lets a window hang over the end. Cells of
the padding, and such beyond the end, are 0. padding is one number, one an axis, or two an axis: those before every
axis, then those after, as ONNX's pads.
Gradient: g sign(x) (|x| / y)^(p - 1), to every cell of its window, 0 where y is 0.
Kinks: x = 0 for p = 1, windows of zeros.
Source: ONNX, LpPool; PyTorch's documentation of torch.nn.LPPool2d, which takes powers of x itself.
PyTorch: torch.nn.functional.lp_pool2d (of |x|, without padding and ceil_mode). ONNX: LpPool. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._one_sided import avg_pool as avg_pool_one_sided
from opproof.reference_ops._pool import Pool, avg_pool, avg_pool_vjp, pool
from opproof.reference_ops._torch import widened
from opproof.reference_ops._windows import Sizes

SIGNATURE = "(n,c,h,w)"
TRAITS = ("long sum", "pools")
TRIVIAL = {"forward": ("copy",), "vjp": ("copy",)}  # of windows of one cell that is positive
NEIGHBOURS = ("avg_pool2d",)


def _sums(x: Array, p: float, how: Pool) -> Array:
    """The sum of powers of every window."""
    size = np.abs(x)
    return avg_pool(size if p == 1 else x * x if p == 2 else size**p, how, np.ones(how.out))


def forward(
    x: Array, *, kernel_size: Sizes, p: float = 2.0, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False,
) -> Array:  # fmt: skip
    total = _sums(x, p, pool(x.shape[2:], kernel_size, stride, padding, ceil_mode))
    return total if p == 1 else np.sqrt(total) if p == 2 else total ** (1 / p)


def vjp(
    g: Array, y: Array, x: Array, *, kernel_size: Sizes, p: float = 2.0, stride: Sizes | None = None,
    padding: Sizes = 0, ceil_mode: bool = False,
) -> Array:  # fmt: skip
    how = pool(x.shape[2:], kernel_size, stride, padding, ceil_mode)
    slope = np.where(y == 0, 0, g / np.where(y == 0, 1, y) ** (p - 1))
    spread = avg_pool_vjp(slope, x, how, np.ones(how.out))
    return spread * np.sign(x) * np.abs(x) ** (p - 1)


def kinks(
    x: Array, *, kernel_size: Sizes, p: float = 2.0, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False,
) -> Array:  # fmt: skip
    if p == 1:
        return np.abs(x)
    how = pool(x.shape[2:], kernel_size, stride, padding, ceil_mode)
    zero = avg_pool_vjp((_sums(x, p, how) == 0).astype(x.dtype), x, how, np.ones(how.out))
    return np.where(zero > 0, 0.0, np.inf)


def torch(
    torch: Any, x: Any, *, kernel_size: Sizes, p: float = 2.0, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    (wide,) = widened(torch, x)
    if padding == 0 and not ceil_mode:  # else it scales a window that hangs over by all its cells
        return torch.nn.functional.lp_pool2d(wide.abs(), p, kernel_size, stride).to(x.dtype)
    sums = avg_pool_one_sided(torch, wide.abs() ** p, padding, kernel_size, stride, ceil_mode, True, 1)
    return (sums ** (1 / p)).to(x.dtype)
