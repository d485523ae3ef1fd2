"""selu: scale x where x > 0, scale alpha (eˣ - 1) elsewhere, with the constants of the paper.

Shapes: x any; y as x.
Gradient: scale g where x > 0, scale alpha eˣ g elsewhere (so scale alpha at 0, as PyTorch).
At NaN it is NaN (PyTorch: scale g).
Kinks: x = 0.
Source: Klambauer, Unterthiner, Mayr, Hochreiter, Self-Normalizing Neural Networks (2017), appendix A.
PyTorch: torch.nn.functional.selu. ONNX: Selu. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import rounding

TRAITS = ("pointwise",)

_ALPHA = 1.6732632423543772848170429916717
_SCALE = 1.0507009873554804934193349852946


def forward(x: Array) -> Array:
    return np.where(x > 0, _SCALE * x, _SCALE * _ALPHA * np.expm1(np.minimum(x, 0)))


def vjp(g: Array, y: Array, x: Array) -> Array:
    # From the saved output, g (y + scale alpha), without its cancellation, as elu.
    return np.where(x > 0, _SCALE * g, g * (_SCALE * _ALPHA * np.exp(np.minimum(x, 0)) + rounding(y, forward(x))))


def kinks(x: Array) -> Array:
    return np.abs(x)


def torch(torch: Any, x: Any) -> Any:
    return torch.nn.functional.selu(x)
