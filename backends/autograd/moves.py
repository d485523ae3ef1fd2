"""autograd's functions by operator: what moves, picks and sorts. See pointwise.py.

autograd has no assignment into an array, so nothing that scatters is here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import autograd.numpy as anp
import numpy as np

from opproof.backends.protocol import Unsupported
from opproof.backends.table import decline_params


def _pad(x: Any, *, pad: tuple[int, ...], mode: str, value: float | None) -> Any:
    if min(pad, default=0) < 0:
        raise Unsupported("NumPy's pad takes no cells away")
    widths = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    if mode == "constant":
        return anp.pad(x, widths, mode=mode, constant_values=0 if value is None else value)
    return anp.pad(x, widths, mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])


def _expand(x: Any, *, shape: tuple[int, ...]) -> Any:
    lead = len(shape) - x.ndim
    return anp.broadcast_to(x, tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)))


def _at(x: Any, dim: int, index: Any) -> Any:
    return x[(*(slice(None),) * (dim % x.ndim), index)]


def _gather(x: Any, index: Any, *, dim: int) -> Any:
    own = np.indices(index.shape, sparse=True)
    return x[tuple(index if d == dim % x.ndim else g for d, g in enumerate(own))]


def _take_along_dim(x: Any, indices: Any, *, dim: int) -> Any:
    return anp.take_along_axis(x, indices, axis=dim)


def _roll(x: Any, *, shifts: Any, dims: Any) -> Any:
    return anp.roll(x, shifts if isinstance(shifts, int) else np.array(shifts), axis=dims)


def _sort(x: Any, *, dim: int, descending: bool) -> Any:
    if descending:
        raise Unsupported("NumPy sorts upwards only")
    return anp.sort(x, dim, "stable"), anp.argsort(x, dim, "stable")


def _argsort(x: Any, *, dim: int, descending: bool) -> Any:
    if descending:
        raise Unsupported("NumPy sorts upwards only")
    return anp.argsort(x, dim, "stable")


def _cast(x: Any, *, to: str) -> Any:
    if to not in ("f32", "f16"):
        raise Unsupported(f"NumPy, and so autograd, has no {to} of floats")
    return x.astype({"f32": anp.float32, "f16": anp.float16}[to]).astype(x.dtype)


TABLE: dict[str, Callable[..., Any]] = {
    "reshape": lambda x, *, shape: anp.reshape(x, shape),
    "permute": lambda x, *, dims: anp.transpose(x, dims),
    "transpose": lambda x, *, dim0, dim1: anp.swapaxes(x, dim0, dim1),
    "cast": _cast,
    "contiguous": anp.array,
    "expand": _expand,
    "concat": lambda *xs, dim: anp.concatenate(xs, axis=dim),
    "stack": lambda *xs, dim: anp.stack(xs, axis=dim),
    "split": lambda x, *, sizes, dim: anp.split(x, list(accumulate(sizes[:-1])), axis=dim),
    "repeat": lambda x, *, repeats: anp.tile(x, repeats),
    "repeat_interleave": lambda x, *, repeats, dim: anp.repeat(x, repeats, axis=dim),
    "slice": lambda x, *, dim, start, end, step: _at(x, dim, slice(start, end, step)),
    "pad": _pad,
    "roll": _roll,
    "flip": lambda x, *, dims: anp.flip(x, dims),
    "fill": lambda x, *, value: anp.full_like(x, value),
    "arange": lambda *, start, end, step: anp.arange(start, end, step, dtype=anp.float32),
    "embedding": decline_params("autograd", lambda weight, indices: weight[indices], "padding_idx"),
    "index_select": lambda x, index, *, dim: _at(x, dim, index),
    "gather": _gather,
    "take_along_dim": _take_along_dim,
    "sort": _sort,
    "argsort": _argsort,
}
