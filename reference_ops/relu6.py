"""relu6: min(max(x, 0), 6).

Shapes: x any; y as x.
Gradient: g where 0 < x < 6, else 0 (so 0 at 0 and 6, as PyTorch; 0 at NaN, PyTorch g).
Kinks: x = 0 and x = 6.
Source: Krizhevsky, Convolutional Deep Belief Networks on CIFAR-10 (2010).
PyTorch: torch.nn.functional.relu6. ONNX: Clip (0, 6). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward", "vjp")
TRAITS = ("pointwise",)
NEIGHBOURS = ("relu",)


def forward(x: Array) -> Array:
    return np.minimum(np.maximum(x, 0), 6)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.where((x > 0) & (x < 6), g, 0)


def kinks(x: Array) -> Array:
    return np.minimum(np.abs(x), np.abs(x - 6))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.nn.functional.relu6(x)
