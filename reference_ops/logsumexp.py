"""logsumexp: log sum exp(x) over `dim`, without overflow.

Shapes: x any; y as x without `dim` (one axis or several), or with them of size 1 where keepdim; -inf over no elements.
Gradient: from the saved output, g exp(x - y), which is g softmax(x).
Source: a chain of logaddexp, of all honest ways the one that rounds most; Blanchard, Higham, Higham, Accurately
computing the log-sum-exp and softmax functions (2021).
PyTorch: torch.logsumexp. ONNX: ReduceLogSumExp. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import axes, count, kept, left

TRAITS = ("rowwise", "statistic", "shares", "long sum")


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return left(shapes, params["dim"], params["keepdim"])


def forward(x: Array, *, dim: int | tuple[int, ...], keepdim: bool = False) -> Array:
    gone = tuple(sorted(axes(dim, x.ndim)))
    rest = tuple(a for a in range(x.ndim) if a not in gone)
    rows = np.reshape(np.transpose(x, rest + gone), (*(x.shape[a] for a in rest), count(x, dim)))
    total = np.logaddexp.reduce(rows, axis=-1)
    return kept(total, x, dim) if keepdim else total


def conventions(x: Array, *, dim: int | tuple[int, ...], keepdim: bool = False) -> Iterator[Array]:
    nothing = np.all(x == -np.inf, axis=dim, keepdims=keepdim)
    yield np.where(nothing, np.nan, forward(x, dim=dim, keepdim=keepdim))  # as softmax of a row that is masked in full
    infinite = np.isinf(np.max(x, axis=dim, keepdims=keepdim, initial=-np.inf))
    yield np.where(infinite, np.nan, forward(x, dim=dim, keepdim=keepdim))  # x - max(x) is no number there


def vjp(g: Array, y: Array, x: Array, *, dim: int | tuple[int, ...], keepdim: bool = False) -> Array:
    return kept(g, x, dim) * np.exp(x - kept(y, x, dim))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, *, dim: int | tuple[int, ...], keepdim: bool = False) -> Any:
    return torch.logsumexp(x, dim, keepdim)
