"""softmax: exp(x) / sum exp(x) along `dim`, computed on x - max(x) so that nothing overflows.

Shapes: x any; y as x.
Gradient: from the saved output, dx = y (g - sum(g y)).
Source: Goodfellow, Bengio, Courville, Deep Learning (2016), section 4.1 (shift) and 6.2.2.3.
PyTorch: torch.softmax. ONNX: Softmax. ggml: ggml_soft_max (dim = -1).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import largest, unbounded_above
from opproof.reference_ops._shift import through_the_largest

ANALYTIC = True
TRAITS = ("rowwise", "statistic", "shares", "long sum")
IN_PLACE = ("x",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    axes = len(shapes["x"])
    return [{"x": k, "y": k} for k in range(-axes, 0) if k % axes != params["dim"] % axes]


def forward(x: Array, *, dim: int) -> Array:
    e = np.exp(x - largest(x, dim))
    return e / np.sum(e, axis=dim, keepdims=True)  # type: ignore[no-any-return]


def conventions(x: Array, *, dim: int) -> Iterator[Array]:
    y = forward(x, dim=dim)
    masked = np.where(np.all(x == -np.inf, axis=dim, keepdims=True), 0, y)  # nothing is kept: no share
    yield masked
    infinite = unbounded_above(x, dim)
    for answer in (y, masked):  # as exp(x - logsumexp(x)) has it: beside an infinity nothing has a share
        yield np.where(infinite, np.where(x == np.inf, np.nan, 0), answer)


def vjp(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    return through_the_largest(y * (g - np.sum(g * y, axis=dim, keepdims=True)), y, dim)


def torch(torch: Any, x: Any, *, dim: int) -> Any:
    return torch.softmax(x, dim)
