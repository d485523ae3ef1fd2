"""masked_fill: value where mask holds, x elsewhere.

Shapes: x any; mask (integers, 0 is false) broadcasts to x; y as x.
Gradient: 0 where mask holds, else g. None for mask.
Source: PyTorch's documentation of Tensor.masked_fill.
PyTorch: torch.Tensor.masked_fill. ONNX: none (Where). ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unseen

EXACT = ("forward", "vjp")
TRAITS = ("pointwise", "broadcasts")
KINDS = ("float8", "signed", "unsigned")
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"mask": range(2)}


def forward(x: Array, mask: Array, *, value: float) -> Array:
    if np.broadcast_shapes(x.shape, mask.shape) != x.shape:
        raise ValueError(f"a mask of {mask.shape} does not broadcast to {x.shape}")
    return np.where(mask != 0, value, x)


def hidden(x: Array, mask: Array, *, value: float) -> tuple[Array | None, ...]:
    return unseen(np.broadcast_to(mask != 0, np.broadcast_shapes(x.shape, mask.shape)), x.shape), None


def vjp(g: Array, y: Array, x: Array, mask: Array, *, value: float) -> tuple[Array, None]:
    return np.where(mask != 0, 0, g), None


def torch(torch: Any, x: Any, mask: Any, *, value: float) -> Any:
    return x.masked_fill(mask != 0, value)
