"""sigmoid: 1 / (1 + e⁻ˣ), without overflow on either side.

Shapes: x any; y as x.
Gradient: from the saved output, g y (1 - y); finite wherever x is (candle issue 2114).
Source: Bishop, Pattern Recognition and Machine Learning (2006), equations 4.59 and 4.88.
PyTorch: torch.sigmoid. ONNX: Sigmoid. ggml: ggml_sigmoid.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("hardsigmoid",)


def forward(x: Array) -> Array:
    return sigmoid(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    return g * y * (1 - y)  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.sigmoid(x)
