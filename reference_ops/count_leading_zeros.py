"""count_leading_zeros: how many of the 32 bits of x are 0 before the first that is set; 32 of 0.

Shapes: x any, of integers in [-2³¹, 2³¹); y int64 as x.
Gradient: none, the input is of integers, negative ones in two's complement.
Source: Knuth, The Art of Computer Programming 4A, 7.1.3.
PyTorch: none. ONNX: none. ggml: none. JAX: jax.lax.clz.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._bits import WHOLE, on_bits, unsigned

EXACT = ("forward",)
TRAITS = ("pointwise",)
IN_PLACE = ("x",)  # integers as they are


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": WHOLE}


def forward(x: Array) -> Array:
    # float64 has a place for every one of 32 bits, so that its exponent is the number of them.
    return on_bits(lambda bits: 32 - np.frexp(unsigned(bits).astype(np.float64))[1], x)


def torch(torch: Any, x: Any) -> Any:
    bits = x & 0xFFFFFFFF
    return 32 - sum((bits >> place) > 0 for place in range(32))
