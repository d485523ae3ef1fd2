"""upsample_nearest: x at another height and width, each cell a copy of the one at floor(i n / out).

Shapes: x (n, c, h, w); y (n, c, *size), larger or smaller.
Gradient: g summed over the copies of each cell; cells never copied get zero.
Source: PyTorch's documentation of torch.nn.functional.interpolate.
PyTorch: torch.nn.functional.interpolate (mode = "nearest"). ONNX: Resize (nearest, asymmetric, floor).
ggml: ggml_interpolate (GGML_SCALE_MODE_NEAREST), ggml_upscale.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._windows import asked_of_something

SIGNATURE = "(n,c,h,w)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("resize",)
TWIN_ERRS = ("x=1x1x3x2;size=(123,98)",)  # its backward takes the cell before where 41 copies meet


def _cells(n: int, out: int) -> Array:
    return np.arange(out) * n // out


def forward(x: Array, *, size: tuple[int, int]) -> Array:
    asked_of_something(x, "resizing")
    h, w = (_cells(n, out) for n, out in zip(x.shape[2:], size, strict=True))
    return x[:, :, h[:, None], w]


def vjp(g: Array, y: Array, x: Array, *, size: tuple[int, int]) -> Array:
    h, w = (_cells(n, out) for n, out in zip(x.shape[2:], size, strict=True))
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    where: Any = (slice(None), slice(None), h[:, None], w)
    np.add.at(dx, where, g)
    return dx


def torch(torch: Any, x: Any, *, size: tuple[int, int]) -> Any:
    return torch.nn.functional.interpolate(x, size, mode="nearest")
