"""sum: the sum of the elements over `dim` (one axis, several, or all where None).

Shapes: x any; y as x without `dim`, or with them of size 1 where keepdim.
Gradient: g, copied to every element summed.
Source: the definition.
PyTorch: torch.sum. ONNX: ReduceSum. ggml: ggml_sum, ggml_sum_rows (dim = -1, keepdim).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import Dim, kept, left
from opproof.reference_ops._passed import of_one_sign

ANALYTIC = True
MULTILINEAR = True
EXACT = ("vjp",)
TRIVIAL = {"vjp": ("constant",)}
TRAITS = ("rowwise", "long sum")
KINDS = ("signed", "unsigned")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    return np.sum(x, axis=dim, keepdims=keepdim)


def vjp(g: Array, y: Array, x: Array, *, dim: Dim = None, keepdim: bool = False) -> Array:
    return np.broadcast_to(kept(g, x, dim), x.shape)


def partials(x: Array, *, dim: Dim = None, keepdim: bool = False) -> Iterator[Array]:
    return of_one_sign(lambda terms: forward(terms, dim=dim, keepdim=True), x)


def torch(torch: Any, x: Any, *, dim: Dim = None, keepdim: bool = False) -> Any:
    return torch.sum(x, dim=dim, keepdim=keepdim)
