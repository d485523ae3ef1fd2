"""expand: x broadcast to `shape`; -1 keeps a size of x.

Shapes: x any; y of `shape`, with new axes in front and axes of size 1 repeated.
Gradient: g summed over the axes along which x was broadcast.
Source: NumPy's broadcasting rules.
PyTorch: torch.Tensor.expand. ONNX: Expand. ggml: ggml_repeat.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("long sum",)
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, shape: tuple[int, ...]) -> Array:
    own = (*(1,) * (len(shape) - x.ndim), *x.shape)
    return np.broadcast_to(x, tuple(n if s == -1 else s for s, n in zip(shape, own, strict=True)))


def vjp(g: Array, y: Array, x: Array, *, shape: tuple[int, ...]) -> Array:
    return unbroadcast(g, x.shape)


def torch(torch: Any, x: Any, *, shape: tuple[int, ...]) -> Any:
    return x.expand(shape)
