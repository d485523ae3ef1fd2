"""hardsigmoid: min(max(x + 3, 0), 6) / 6.

Shapes: x any; y as x.
Gradient: g / 6 where |x| < 3, else 0 (so 0 on the bounds, as PyTorch).
Kinks: x = -3 and x = 3.
Source: Howard et al., Searching for MobileNetV3 (2019), section 5.2.
PyTorch: torch.nn.functional.hardsigmoid. ONNX: HardSigmoid (alpha = 1/6). ggml: ggml_hardsigmoid.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("pointwise",)
NEIGHBOURS = ("sigmoid",)


def forward(x: Array) -> Array:
    return np.minimum(np.maximum(x + 3, 0), 6) / 6  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, x: Array) -> Array:
    return np.where(np.abs(x) < 3, g / 6, 0)


def kinks(x: Array) -> Array:
    return np.abs(np.abs(x) - 3)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    # The gradient of hardsigmoid rounds 1 / 6 to float32, which would hide an error of ours: a composite proves the
    # reference in float64. The backend calls hardsigmoid itself (backends/torch), and its ledger holds the defect.
    if x.dtype == torch.float64:
        return torch.nn.functional.relu6(x + 3) / 6
    return torch.nn.functional.hardsigmoid(x)
