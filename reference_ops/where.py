"""where: a where condition holds, b elsewhere, with NumPy broadcasting.

Shapes: condition (integers, 0 is false), a and b broadcast against each other; y has the broadcast shape.
Gradient: da = g where condition holds, else 0; db the reverse; each summed
over the axes along which its tensor was broadcast. None for condition.
Source: NumPy's and PyTorch's documentation of where.
PyTorch: torch.where. ONNX: Where. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast, unseen

EXACT = ("forward",)
MULTILINEAR = True
TRAITS = ("pointwise", "broadcasts")
KINDS = ("float8", "signed", "unsigned")
IN_PLACE = ("a", "b")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"condition": range(2)}


def forward(condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition != 0, a, b)


def hidden(condition: Array, a: Array, b: Array) -> tuple[Array | None, ...]:
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    holds = np.broadcast_to(condition != 0, shape)
    return None, unseen(~holds, a.shape), unseen(holds, b.shape)


def vjp(g: Array, y: Array, condition: Array, a: Array, b: Array) -> tuple[None, Array, Array]:
    holds = condition != 0
    return None, unbroadcast(np.where(holds, g, 0), a.shape), unbroadcast(np.where(holds, 0, g), b.shape)


def torch(torch: Any, condition: Any, a: Any, b: Any) -> Any:
    return torch.where(condition != 0, a, b)
