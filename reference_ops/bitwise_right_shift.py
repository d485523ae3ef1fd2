"""bitwise_right_shift: the bits of a moved b places down, its sign kept, which is floor(a / 2ᵇ).

Shapes: a and b broadcast against each other; y int64 of the broadcast shape.
a of integers in [-2³¹, 2³¹), b in [0, 32].
Gradient: none, the inputs are integers, negative ones in two's complement.
Source: ISO C23, 6.5.
PyTorch: torch.bitwise_right_shift. ONNX: BitShift (RIGHT) of unsigned integers. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Whole
from opproof.reference_ops._bits import on_bits

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts")
KINDS = ("signed", "unsigned")
IN_PLACE = ("a",)  # integers as they are
NEIGHBOURS = ("bitwise_left_shift",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": Whole(range(-(2**31), 2**31)), "b": Whole(range(33), places=True)}


def forward(a: Array, b: Array) -> Array:
    return on_bits(np.right_shift, a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.bitwise_right_shift(a, b)
