"""bitwise_not: every bit of x turned over, which is -1 - x.

Shapes: x any, of integers in [-2³¹, 2³¹); y int64 as x.
Gradient: none, the input is of integers, negative ones in two's complement.
Source: ISO C23, 6.5.4.3.
PyTorch: torch.bitwise_not. ONNX: BitwiseNot. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._bits import WHOLE, on_bits

EXACT = ("forward",)
TRAITS = ("pointwise",)
KINDS = ("signed",)
IN_PLACE = ("x",)  # integers as they are


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": WHOLE}


def forward(x: Array) -> Array:
    return on_bits(np.bitwise_not, x)


def torch(torch: Any, x: Any) -> Any:
    return torch.bitwise_not(x)
