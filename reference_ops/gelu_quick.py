"""gelu_quick: x sigmoid(1.702 x), an approximation of gelu.

Shapes: x any; y as x.
Gradient: g s (1 + 1.702 x (1 - s)) with s = sigmoid(1.702 x).
Source: Hendrycks, Gimpel, Gaussian Error Linear Units (2016), section 2.
PyTorch: none (torch primitives). ONNX: Swish with alpha = 1.702 (opset 24). ggml: ggml_gelu_quick.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("silu", "gelu")


def forward(x: Array) -> Array:
    return x * sigmoid(1.702 * x)


def conventions(x: Array) -> Iterator[Array]:
    yield np.where(x == -np.inf, 0, forward(x))  # the limit


def vjp(g: Array, y: Array, x: Array) -> Array:
    s = sigmoid(1.702 * x)
    return g * (s + x * (1.702 * (s * (1 - s))))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    # In float32, as a kernel of one pass computes: 16-bit intermediates would be rounded.
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * torch.sigmoid(1.702 * wide)).to(x.dtype)
