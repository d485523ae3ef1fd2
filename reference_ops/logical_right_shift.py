"""logical_right_shift: the 32 bits of a moved b places down, zeros behind them.

Shapes: a and b broadcast against each other; y int64 of the broadcast shape.
a of integers in [-2³¹, 2³¹), b in [0, 32); of a negative one moved by 0 y is a itself.
Gradient: none, the inputs are integers, negative ones in two's complement.
Source: the TOSA specification 1.0, LOGICAL_RIGHT_SHIFT.
PyTorch: none. ONNX: none. ggml: none. JAX: jax.lax.shift_right_logical.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Whole
from opproof.reference_ops._bits import WHOLE, on_bits, unsigned

EXACT = ("forward",)
TRAITS = ("pointwise", "broadcasts")
IN_PLACE = ("a",)  # integers as they are
NEIGHBOURS = ("bitwise_right_shift",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": WHOLE, "b": Whole(range(32), places=True)}


def forward(a: Array, b: Array) -> Array:
    return on_bits(lambda bits, places: (unsigned(bits) >> places).astype(np.int32), a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.where(b == 0, a, (a & 0xFFFFFFFF) >> b)
