"""arange: start, start + step, start + 2 step and so on, as long as end is not reached.

Shapes: y (ceil((end - start) / step),), float32 since no input names another dtype.
Gradient: none, there is no input.
Source: the definition.
PyTorch: torch.arange. ONNX: Range. ggml: ggml_arange.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)


def forward(*, start: float, end: float, step: float) -> Array:
    y = float(start) + float(step) * np.arange(math.ceil((end - start) / step))
    return y.astype(np.float32)


def torch(torch: Any, *, start: float, end: float, step: float) -> Any:
    return torch.arange(float(start), float(end), float(step), dtype=torch.float32)
