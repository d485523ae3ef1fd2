"""add1: a + b, b a single number in a tensor.

Shapes: a any; b of one element, in any number of axes; y as a.
Gradient: da = g and db = sum(g), in the shape of b.
Source: ggml.h, ggml_add1.
PyTorch: torch.add (a tensor of one element). ONNX: Add. ggml: ggml_add1.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...),()"
ANALYTIC = True
MULTILINEAR = True
TRIVIAL = {"vjp": ("copy",)}
TRAITS = ("pointwise", "broadcasts")
IN_PLACE = ("a",)


def forward(a: Array, b: Array) -> Array:
    return a + np.reshape(b, ())  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return g, np.reshape(np.sum(g), b.shape)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.add(a, b.reshape(()))
