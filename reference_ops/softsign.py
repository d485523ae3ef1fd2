"""softsign: x / (1 + |x|).

Shapes: x any; y as x.
Gradient: g / (1 + |x|) - g |x| / (1 + |x|)², the quotient rule term by term.
Kinks: x = 0, of the second derivative only.
Source: Glorot, Bengio, Understanding the difficulty of training deep feedforward neural networks (2010).
PyTorch: torch.nn.functional.softsign. ONNX: Softsign. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("pointwise",)


def forward(x: Array) -> Array:
    return x / (1 + np.abs(x))  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array) -> Array:
    size = 1 + np.abs(x)
    return g / size - g * (np.abs(x) / size) / size  # type: ignore[no-any-return]


def kinks(x: Array) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.nn.functional.softsign(x)
