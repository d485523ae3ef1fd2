"""bitwise_left_shift: the bits of a moved b places up, which is 2ᵇ a.

Shapes: a and b broadcast against each other; y int64 of the broadcast shape.
a of integers in [-2¹⁵, 2¹⁵), b in [0, 16], so that no result is past 32 bits.
Gradient: none, the inputs are integers, negative ones in two's complement.
Source: ISO C23, 6.5.
PyTorch: torch.bitwise_left_shift. ONNX: BitShift (LEFT) of unsigned integers. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.vocabulary.arrays import Array

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts")
IN_PLACE = ("a",)  # integers as they are
NEIGHBOURS = ("bitwise_right_shift",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": range(-(2**15), 2**15), "b": range(17)}


def forward(a: Array, b: Array) -> Array:
    return np.left_shift(a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.bitwise_left_shift(a, b)
