"""numel: how many elements x has.

Shapes: x any; y 0d int64.
Gradient: none, the output is a number of elements.
Source: the definition.
PyTorch: torch.numel. ONNX: Size. ggml: none.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)
TRIVIAL = {"forward": ("constant", "zeros")}  # it is one number, of no elements 0


def forward(x: Array) -> Array:
    return np.array(math.prod(x.shape), dtype=np.int64)


def torch(torch: Any, x: Any) -> Any:
    return torch.tensor(torch.numel(x))
