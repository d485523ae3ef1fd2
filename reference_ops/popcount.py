"""popcount: how many of the 32 bits of x are set.

Shapes: x any, of integers in [-2³¹, 2³¹); y int64 as x.
Gradient: none, the input is of integers, negative ones in two's complement.
Source: Knuth, The Art of Computer Programming 4A, 7.1.3 (sideways addition).
PyTorch: none. ONNX: none. ggml: none. JAX: jax.lax.population_count.
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
    return on_bits(lambda bits: np.bitwise_count(unsigned(bits)), x)


def torch(torch: Any, x: Any) -> Any:
    return sum((x >> place) & 1 for place in range(32))
