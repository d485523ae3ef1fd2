"""bitwise_or: every bit that a or b or both have set.

Shapes: a and b broadcast against each other, of integers in [-2³¹, 2³¹); y int64 of the broadcast shape.
Gradient: none, the inputs are integers, negative ones in two's complement.
Source: ISO C23, 6.5.
PyTorch: torch.bitwise_or. ONNX: BitwiseOr. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._bits import WHOLE, on_bits

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts")
KINDS = ("signed", "unsigned")
IN_PLACE = ("a", "b")  # integers as they are
NEIGHBOURS = (
    "bitwise_and",
    "bitwise_xor",
)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": WHOLE, "b": WHOLE}


def forward(a: Array, b: Array) -> Array:
    return on_bits(np.bitwise_or, a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.bitwise_or(a, b)
