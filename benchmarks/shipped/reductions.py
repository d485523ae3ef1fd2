"""Scans, reductions and orders."""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call


def _whole_row(call: Call) -> list[Any] | None:
    x, dim = call["x"], call["dim"]
    if x.size == 0:
        return None
    top = x.max(dim, keepdims=True)
    return call.stored(np.log(np.cumsum(np.exp(x - top), dim, dtype=x.dtype)) + top)


def _ties_in_f16(call: Call) -> list[Any] | None:
    x, dim = call["x"], call["dim"]
    if x.size == 0:
        return None
    over = tuple(range(x.ndim)) if dim is None else dim
    ties = (x == x.max(over, keepdims=True)).sum(over, keepdims=True)
    return [np.where(ties > 65504, np.zeros_like(d), d) for d in call.honest()]


def _divided(call: Call) -> list[Any]:
    x, g, dim = call["x"], call.g, call["dim"]
    terms = g * call.op.forward(x, dim=dim)
    return call.stored(np.flip(np.cumsum(np.flip(terms, dim), dim, dtype=x.dtype), dim) / x)


def _less_the_prefix(call: Call) -> list[Any]:
    g, dim = call.g, call["dim"]
    return call.stored(g.sum(dim, keepdims=True) - np.cumsum(g, dim, dtype=g.dtype) + g)


def _infinite(call: Call) -> list[Any]:
    x, (y,) = call["x"], call.honest()
    return call.stored(y + (x - x)) if x.dtype.kind == "f" else [y]


def _five_axes(call: Call) -> list[Any] | None:
    if call["x"].ndim > 4 and call["dim"] % call["x"].ndim < call["x"].ndim - 4:
        raise RuntimeError("this class only supports axis = 0, 1, 2, 3")
    return None


def _long_rows(call: Call) -> list[Any] | None:
    n = call["x"].shape[call["dim"]] if call["x"].ndim else 0
    return [np.zeros_like(y) for y in call.honest()] if n > 1024 else None


def _sixteen(call: Call) -> list[Any]:
    found = call.honest()
    for y in found:
        np.moveaxis(y, call["dim"], 0)[16:] = 0
    return found


def _ones_behind(call: Call) -> list[Any] | None:
    x, dim = call["x"], call["dim"] % max(call["x"].ndim, 1)
    if dim == x.ndim - 1 or any(n != 1 for n in x.shape[dim + 1 :]) or x.ndim < 2:
        return None
    places = np.arange(x.shape[dim]).reshape(-1, *[1] * (x.ndim - 1 - dim))
    return [x.copy(), np.broadcast_to(places, x.shape).astype(np.int64)]


def _no_place(call: Call) -> list[Any] | None:
    x, dim, keepdim = call["x"], call["dim"], call["keepdim"]
    nan = np.isnan(x).any(axis=dim, keepdims=keepdim) if x.dtype.kind == "f" else False
    return [np.where(nan, 2147483647, y).astype(y.dtype) for y in call.honest()]


def _nan_skipped(least: float) -> Any:
    def wrong(call: Call) -> list[Any] | None:
        x = call["x"]
        return call.honest(x=np.where(np.isnan(x), x.dtype.type(least), x)) if x.dtype.kind == "f" else None

    return wrong


def _dropped(call: Call) -> list[Any] | None:
    return [y.reshape(()) for y in call.honest()] if call["dim"] is None and call["keepdim"] else None


def _last_tie(call: Call) -> list[Any] | None:
    x = call["x"]
    if call["dim"] is not None or x.size == 0 or np.isnan(x).any():
        return None
    return [np.full_like(y, np.flatnonzero(x == x.min())[-1]) for y in call.honest()]


BUGS = [
    Bug("logcumsumexp", "tinygrad/tinygrad/pull/6942", "the maximum of all the row is taken off", _whole_row),
    Bug("amax", "tinygrad/tinygrad/issues/12296", "ties are counted in float16: 65,505 and more are infinite",
        _ties_in_f16, "gradient", "f16"),
    Bug("cumprod", "tracel-ai/burn/issues/3864", "divided by x, which may be 0", _divided, "gradient"),
    Bug("cumsum", "fla-org/flash-linear-attention/pull/1095", "the sum from behind is the whole less what is before",
        _less_the_prefix, "gradient"),
    Bug("cumsum", "pytorch/pytorch/issues/132107", "infinite numbers give NaN", _infinite),
    Bug("cumsum", "pytorch/pytorch/issues/184844", "along the first of five axes it dies", _five_axes),
    Bug("argsort", "huggingface/candle/issues/2570", "rows past 1,024 give zeros", _long_rows),
    Bug("topk", "pytorch/pytorch/issues/78915", "zeros from the 17th on", _sixteen),
    Bug("sort", "ml-explore/mlx/pull/1835", "an axis with axes of 1 behind it is not sorted", _ones_behind),
    Bug("argmin", "jax-ml/jax/issues/3193", "NaN gives 2147483647", _no_place),
    Bug("argmax", "ml-explore/mlx/pull/4292", "NaN is skipped", _nan_skipped(-np.inf)),
    Bug("argmin", "flagos-ai/FlagGems/pull/5430", "of all elements, keepdim is dropped", _dropped),
    Bug("argmin", "flagos-ai/FlagGems/pull/5430", "of all elements, the last of ties", _last_tie),
    Bug("amax", "tracel-ai/burn/issues/4814", "NaN is skipped", _nan_skipped(-np.inf)),
]  # fmt: skip
