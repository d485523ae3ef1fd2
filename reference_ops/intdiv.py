"""intdiv: the quotient of two integers, rounded toward zero.

Shapes: a and b broadcast against each other; y int64 of the broadcast shape. a of integers in [-2³¹, 2³¹), b of odd
ones between -2¹⁵ and 2¹⁵, none of them 0.
Gradient: none, the inputs are integers.
Source: the TOSA specification 1.0, INTDIV; ISO C23, 6.5.6.
PyTorch: torch.div (rounding_mode = trunc, of integers). ONNX: Div (of integers). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Whole
from opproof.reference_ops._bits import WHOLE, on_bits

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts")
IN_PLACE = ("a",)  # integers as they are
NEIGHBOURS = ("floor_divide",)
#: Divisors: odd, so that none is 0.
_DIVISORS = Whole(range(1 - 2**15, 2**15, 2))


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": WHOLE, "b": _DIVISORS}


def _toward_zero(a: Array, b: Array) -> Array:
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))  # type: ignore[no-any-return]


def forward(a: Array, b: Array) -> Array:
    return on_bits(_toward_zero, a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.div(a, b, rounding_mode="trunc")
