"""bent_identity: (sqrt(x² + 1) - 1) / 2 + x, elementwise.

Shapes: x any; y as x.
Gradient: by finite differences of this forward in float64, since there is no vjp here.
Source: the definition.
PyTorch: none. ONNX: none. ggml: ggml_map_custom1 with a function of your own.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SMOKE = ["x=7x33"]
STANDARD = ["x=9,", "x=5x31;fill=wide", "x=2x3x17;layout=transposed", "x=4x32;fill=negative", "x=3x11;fill=small;f32"]


def forward(x: Array) -> Array:
    square = x * x
    # Not sqrt(x² + 1) - 1, which cancels near 0 and would excuse a backend that does the same.
    return square / (2 * (np.sqrt(square + 1) + 1)) + x  # type: ignore[no-any-return]
