"""logcumsumexp: log of the sum of exp(x) up to and with each element, along `dim`, without overflow.

Shapes: x any; y as x.
Gradient: from the saved output, exp(x_j) times the sum over i from j to the end of g_i exp(-y_i).
Source: a scan by logaddexp; Blanchard, Higham, Higham (2021).
PyTorch: torch.logcumsumexp. ONNX: none. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array

TRAITS = ("rowwise", "statistic", "shares", "long sum")
IN_PLACE = ()  # the gradient needs x beside y
_REACH = 40  # exp(-40) is no part of any sum with 1, and exp(40) is in the range of float32


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    axes = len(shapes["x"])
    return [{"x": k, "y": k} for k in range(-axes, 0) if k % axes != params["dim"] % axes]


def _levels(x: Array) -> Iterator[tuple[Array, Array]]:
    """Shifts, one per row, with the places that they serve: where the largest x so far is at most _REACH below."""
    whole = np.clip(np.where(np.isnan(x), 0, x), -(2.0**40), 2.0**40).astype(np.int64)
    top = np.maximum.accumulate(np.maximum(whole, -(2**40)), axis=-1)  # else a limit that became infinite loops forever
    rest = np.ones(x.shape, dtype=bool)
    while np.any(rest):
        shift = np.max(np.where(rest, top, -(2**40)), axis=-1, keepdims=True)
        served = rest & (top >= shift - _REACH)
        yield shift.astype(np.float64), served
        rest &= ~served


def forward(x: Array, *, dim: int) -> Array:
    return np.logaddexp.accumulate(x, axis=dim) if x.ndim else x


def vjp(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    if not x.size or not x.ndim:
        return g
    rows, last, upstream = (np.swapaxes(v, dim, -1) for v in (x, y, g))
    dx = np.zeros_like(rows)
    for shift, served in _levels(last):
        share = np.where(served, upstream * np.exp(np.where(served, shift - last, 0)), 0)
        behind = np.flip(np.cumsum(np.flip(share, -1), axis=-1), -1)
        before = np.cumsum(served[..., ::-1], axis=-1)[..., ::-1] > 0
        half = np.exp(np.where(before, rows - shift, 0) / 2)  # whose square may be below the range
        dx = dx + np.where(before, half * behind * half, 0)
    return np.swapaxes(dx, dim, -1)


def torch(torch: Any, x: Any, *, dim: int) -> Any:
    return torch.logcumsumexp(x, dim)
