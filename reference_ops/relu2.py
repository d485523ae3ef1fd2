"""relu2: max(x, 0)², squared relu.

Shapes: x any; y as x.
Gradient: 2 g max(x, 0), which has a kink at 0 and no jump.
Source: So et al., Primer (2021), section 3.
PyTorch: none (torch.relu and torch.square). ONNX: none. ggml: none (ggml_relu and ggml_sqr).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("pointwise",)
NEIGHBOURS = ("relu", "square")


def forward(x: Array) -> Array:
    positive = np.maximum(x, 0)
    return positive * positive


def vjp(g: Array, y: Array, x: Array) -> Array:
    return 2 * g * np.maximum(x, 0)


def torch(torch: Any, x: Any) -> Any:
    return torch.square(torch.relu(x))
