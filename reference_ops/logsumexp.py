"""logsumexp: log sum exp(x) over `dim`, computed on x - max(x) so that nothing overflows.

Shapes: x any; y as x without `dim` (one axis or several), or with them of size 1 where keepdim; -inf over no elements.
Gradient: from the saved output, g exp(x - y), which is g softmax(x).
Source: Blanchard, Higham, Higham, Accurately computing the log-sum-exp and softmax functions (2021).
PyTorch: torch.logsumexp. ONNX: ReduceLogSumExp. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.reference_ops._axes import kept, left
from opproof.vocabulary.arrays import Array

ANALYTIC = True
TRAITS = ("rowwise", "statistic", "shares", "long sum")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, dim: int | tuple[int, ...], keepdim: bool = False) -> Array:
    largest = np.max(np.real(x), axis=dim, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(largest), largest, 0)  # of a row of -inf, or with an inf, nothing can be taken away
    total = np.log(np.sum(np.exp(x - shift), axis=dim, keepdims=True)) + shift
    return total if keepdim else np.squeeze(total, axis=dim)  # type: ignore[no-any-return]


def conventions(x: Array, *, dim: int | tuple[int, ...], keepdim: bool = False) -> Iterator[Array]:
    nothing = np.all(x == -np.inf, axis=dim, keepdims=keepdim)
    yield np.where(nothing, np.nan, forward(x, dim=dim, keepdim=keepdim))  # as softmax of a row that is masked in full
    infinite = np.isinf(np.max(x, axis=dim, keepdims=keepdim, initial=-np.inf))
    yield np.where(infinite, np.nan, forward(x, dim=dim, keepdim=keepdim))  # x - max(x) is no number there


def vjp(g: Array, y: Array, x: Array, *, dim: int | tuple[int, ...], keepdim: bool = False) -> Array:
    return kept(g, x, dim) * np.exp(x - kept(y, x, dim))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, *, dim: int | tuple[int, ...], keepdim: bool = False) -> Any:
    return torch.logsumexp(x, dim, keepdim)
