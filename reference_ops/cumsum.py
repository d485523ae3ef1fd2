"""cumsum: the sum of all elements up to and with each one, along `dim`.

Shapes: x any; y as x.
Gradient: the sums of g from each element to the end.
Source: the definition.
PyTorch: torch.cumsum. ONNX: CumSum. ggml: ggml_cumsum (dim = -1).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import left
from opproof.reference_ops._passed import of_one_sign

ANALYTIC = True
MULTILINEAR = True
TRAITS = ("rowwise", "long sum")
KINDS = ("signed", "unsigned")
IN_PLACE = ("x",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], keepdim=True)


def forward(x: Array, *, dim: int) -> Array:
    return np.cumsum(x, axis=dim) if x.ndim else x


def vjp(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    return np.flip(np.cumsum(np.flip(g, dim), axis=dim), dim) if g.ndim else g


def partials(x: Array, *, dim: int) -> Iterator[Array]:
    return of_one_sign(lambda terms: forward(terms, dim=dim), x)


def torch(torch: Any, x: Any, *, dim: int) -> Any:
    return torch.cumsum(x, dim)
