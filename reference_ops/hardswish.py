"""hardswish: x min(max(x + 3, 0), 6) / 6.

Shapes: x any; y as x.
Gradient: 0 where x <= -3, g (x / 3 + 1 / 2) where x < 3, g elsewhere (on the bounds as PyTorch).
Kinks: x = -3 and x = 3.
Source: Howard et al., Searching for MobileNetV3 (2019), section 5.2.
PyTorch: torch.nn.functional.hardswish. ONNX: HardSwish. ggml: ggml_hardswish.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("pointwise",)
NEIGHBOURS = ("silu",)


def forward(x: Array) -> Array:
    return x * (np.minimum(np.maximum(x + 3, 0), 6) / 6)  # type: ignore[no-any-return]


def conventions(x: Array) -> Iterator[Array]:
    yield np.where(x == -np.inf, 0, forward(x))  # the limit, and the definition by pieces


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.where(x <= -3, 0, np.where(x < 3, g * (x / 3 + 0.5), g))


def kinks(x: Array) -> Array:
    return np.abs(np.abs(x) - 3)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.nn.functional.hardswish(x)
