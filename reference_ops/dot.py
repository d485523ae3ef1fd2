"""dot: the sum of the products of two vectors.

Shapes: a (n,), b (n,); y ().
Gradient: da = g b and db = g a.
Source: the definition.
PyTorch: torch.dot. ONNX: none. ggml: none (ggml_mul_mat of one row each).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._passed import of_products

SIGNATURE = "(n),(n)"
ANALYTIC = True
MULTILINEAR = True
TRIVIAL = {"forward": ("zeros",), "vjp": ("zeros", "constant", "copy")}  # one number may happen to be 0, or g 1
TRAITS = ("long sum",)
KINDS = ("signed", "unsigned")


def forward(a: Array, b: Array) -> Array:
    return np.matmul(a, b)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return g * b, g * a


def partials(a: Array, b: Array) -> Iterator[Array]:
    return of_products(forward, a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.dot(a, b)
