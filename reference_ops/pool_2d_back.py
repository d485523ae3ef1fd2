"""pool_2d_back: the gradient of pooling over two axes, to each window's winner ("max") or in equal shares ("avg").

Shapes: grad (n, c, oh, ow), x (n, c, h, w); y as x. The first winner among ties, row by row; every window of an
average has kernel_size cells, those on the padding too. Cells that no window covers are zero.
Source: ggml.h, ggml_pool_2d_back.
PyTorch: none (autograd of max_pool2d and avg_pool2d). ONNX: none. ggml: ggml_pool_2d_back.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._pool import avg_pool_vjp, divisors, max_pool_vjp, pool
from opproof.reference_ops._torch import gradient, widened
from opproof.reference_ops._windows import Sizes

TRAITS = ("ordered", "pools")


def forward(
    grad: Array, x: Array, *, op: str, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0
) -> Array:
    how = pool(x.shape[2:], kernel_size, stride, padding, ceil_mode=False)
    if op == "max":
        return max_pool_vjp(grad, x, how)
    return avg_pool_vjp(grad, x, how, divisors(x.shape[2:], how, count_include_pad=True, divisor_override=None))


def torch(
    torch: Any, grad: Any, x: Any, *, op: str, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0
) -> Any:
    wide, at = widened(torch, grad, x)
    function = torch.nn.functional.max_pool2d if op == "max" else torch.nn.functional.avg_pool2d
    return gradient(torch, lambda v: function(v, kernel_size, stride, padding), at, wide).to(grad.dtype)
