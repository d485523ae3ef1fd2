"""cbrt: the real cube root of x, negative where x is.

Shapes: x any; y as x.
Gradient: g / (3 y²), y anew: numbers about the least normal one have few roots, and what a store loses is one bias.
At 0 it is infinite.
Source: ISO C cbrt.
PyTorch: none. ONNX: none. ggml: none. JAX: jax.numpy.cbrt.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("pointwise",)
NEIGHBOURS = ("sqrt",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": "nonzero"}


def forward(x: Array) -> Array:
    return np.cbrt(x)


def vjp(g: Array, y: Array, x: Array) -> Array:
    root = np.cbrt(x)
    return g / (3 * (root * root))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any) -> Any:
    """The power 1/3 in float64, which is no third, made right by two steps of Newton's."""
    sign = torch.where(x < 0, -1.0, 1.0).to(torch.float64)
    size = x.to(torch.float64) * sign
    ordinary = (size > 0) & torch.isfinite(size)
    inner = torch.where(ordinary, size, 1.0)
    root = inner.detach() ** (1 / 3)
    for third in (inner.detach(), inner):
        root = root - (root - third / (root * root)) / 3
    return (torch.where(ordinary, root, size ** (1 / 3)) * sign).to(x.dtype)
