"""tanhshrink: x - tanh x.

Shapes: x any; y as x.
Gradient: g - g (1 - tanh² x), as the difference is differentiated term by term.
Source: PyTorch's documentation of Tanhshrink.
PyTorch: torch.nn.functional.tanhshrink. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
TRAITS = ("pointwise",)


def forward(x: Array) -> Array:
    return x - np.tanh(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    t = np.tanh(x)
    return g - g * (1 - t * t)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.nn.functional.tanhshrink(x)
