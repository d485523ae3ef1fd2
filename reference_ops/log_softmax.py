"""log_softmax: x - log sum exp(x) along `dim`, computed on x - max(x) so that nothing overflows.

Shapes: x any; y as x.
Gradient: from the saved output, dx = g - exp(y) sum(g).
Source: Goodfellow, Bengio, Courville, Deep Learning (2016), section 6.2.2.3 (equation 6.30).
PyTorch: torch.log_softmax. ONNX: LogSoftmax. ggml: none.
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
    shifted = x - largest(x, dim)
    return shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True))  # type: ignore[no-any-return]


def conventions(x: Array, *, dim: int) -> Iterator[Array]:
    y = forward(x, dim=dim)
    masked = np.where(np.all(x == -np.inf, axis=dim, keepdims=True), -np.inf, y)  # the logarithm of no share
    yield masked
    infinite = unbounded_above(x, dim)
    for answer in (y, masked):  # as x - logsumexp(x) has it: beside an infinity nothing has a share
        yield np.where(infinite, np.where(x == np.inf, np.nan, -np.inf), answer)


def vjp(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    return through_the_largest(g - np.exp(y) * np.sum(g, axis=dim, keepdims=True), y, dim)


def torch(torch: Any, x: Any, *, dim: int) -> Any:
    return torch.log_softmax(x, dim)
