"""mish: x tanh(log(1 + eˣ)).

Shapes: x any; y as x.
Gradient: g (t + x sigmoid(x) (1 - t²)) with t = tanh(log(1 + eˣ)).
Source: Misra, Mish: A Self Regularized Non-Monotonic Activation Function (2019).
PyTorch: torch.nn.functional.mish. ONNX: Mish. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import sigmoid, softplus

TRAITS = ("pointwise",)
NEIGHBOURS = ("silu",)


def forward(x: Array) -> Array:
    return x * np.tanh(softplus(x))


def conventions(x: Array) -> Iterator[Array]:
    yield np.where(x == -np.inf, 0, forward(x))  # the limit


def vjp(g: Array, y: Array, x: Array) -> Array:
    t = np.tanh(softplus(x))
    return g * (t + x * sigmoid(x) * (1 - t * t))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    return torch.nn.functional.mish(x)
