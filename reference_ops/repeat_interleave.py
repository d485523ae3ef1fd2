"""repeat_interleave: every slice of x along `dim` written `repeats` times in a row.

Shapes: x any; y as x with `repeats` times the size along `dim`.
Gradient: g summed over the copies of each slice.
Source: PyTorch's documentation of torch.repeat_interleave.
PyTorch: torch.repeat_interleave. ONNX: none. ggml: none (ggml_repeat of a view).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
TRAITS = ("long sum",)
KINDS = ("float8", "signed", "unsigned")


def forward(x: Array, *, repeats: int, dim: int) -> Array:
    return np.repeat(x, repeats, axis=dim)


def vjp(g: Array, y: Array, x: Array, *, repeats: int, dim: int) -> Array:
    axis = dim % x.ndim
    copies = np.reshape(g, (*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :]))
    return np.sum(copies, axis=axis + 1)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, *, repeats: int, dim: int) -> Any:
    return torch.repeat_interleave(x, repeats, dim)
