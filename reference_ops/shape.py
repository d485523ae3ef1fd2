"""shape: how long the axes of x are, from the axis `start` to before the axis `end`, or all of them.

Shapes: x any; y (number of axes,) int64. Negative numbers count from the end; such as lie outside are moved to the
nearest end, and where start is not before end there are none.
Gradient: none, the output is a list of lengths.
Source: ONNX, Shape.
PyTorch: none (Tensor.shape). ONNX: Shape. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)
TRIVIAL = {"forward": ("constant", "zeros")}  # of equal axes, and of axes without elements


def forward(x: Array, *, start: int = 0, end: int | None = None) -> Array:
    return np.array(x.shape[start:end], dtype=np.int64)


def torch(torch: Any, x: Any, *, start: int = 0, end: int | None = None) -> Any:
    return torch.tensor(x.shape[start:end], dtype=torch.int64)
