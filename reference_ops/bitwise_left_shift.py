"""bitwise_left_shift: the bits of a moved b places up, which is 2ᵇ a.

Shapes: a and b broadcast against each other; y int64 of the broadcast shape.
a of integers in [-2¹⁵, 2¹⁵), b in [0, 16], so that no result is past 32 bits.
Gradient: none, the inputs are integers, negative ones in two's complement.
Source: ISO C23, 6.5.
PyTorch: torch.bitwise_left_shift. ONNX: BitShift (LEFT) of unsigned integers. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Whole
from opproof.reference_ops._bits import on_bits

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts")
KINDS = ("signed", "unsigned")
IN_PLACE = ("a",)  # integers as they are
NEIGHBOURS = ("bitwise_right_shift",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": Whole(range(-(2**15), 2**15)), "b": Whole(range(17), places=True)}


def forward(a: Array, b: Array) -> Array:
    return on_bits(np.left_shift, a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.bitwise_left_shift(a, b)
