"""Gradients of 2024 to 2026 that were wrong past a size, for a parameter, or for the inputs that were asked.

They were chosen before any was asked, from threads that nothing here had met.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from bug import Bug, Call

_SPAN = 1 << 16  # what a launch has of cells, or of planes


def _pair(value: Any) -> tuple[int, ...]:
    return (value, value) if np.ndim(value) == 0 else tuple(value)


def _whole_span(call: Call) -> list[Any] | None:
    """Of a step that leaves one element of several, the cotangent is spread over all of them."""
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or call["step"] < 2:
        return None
    start, end, step = slice(call["start"], call["end"], call["step"]).indices(x.shape[dim])
    if len(range(start, end, step)) != 1 or end - start < 2:
        return None
    dx = np.zeros(x.shape, call.g.dtype)
    np.moveaxis(dx, dim, 0)[start:end] = np.moveaxis(call.g, dim, 0)
    return [dx]


def _less_than_none(call: Call) -> list[Any] | None:
    """Padding past what a kernel reaches leaves less than none for the gradient."""
    if isinstance(call["padding"], str) or not call.needs[0]:
        return None
    reach = [d * (k - 1) for d, k in zip(_pair(call["dilation"]), call["weight"].shape[2:], strict=True)]
    if all(p <= r for p, r in zip(_pair(call["padding"])[:2], reach, strict=True)):
        return None
    raise ValueError("[conv] Padding sizes must be non-negative.")


def _flipped(call: Call) -> list[Any] | None:
    return call.instead("b", -call.honest()[1].astype(np.float64)) if call.needs[1] else None


def _only_the_asked(call: Call) -> list[Any]:
    """The parts of those that ask for a gradient are cut one after the other, as if no other lay between."""
    parts, start = [], 0
    for x, asked in zip(call.tensors.values(), call.needs, strict=True):
        where = [slice(None)] * x.ndim
        where[call["dim"]] = slice(start, start + x.shape[call["dim"]])
        parts.append(call.g[tuple(where)].copy() if asked else None)
        start += x.shape[call["dim"]] if asked else 0
    return parts


def _past_the_grid(call: Call) -> list[Any] | None:
    """Of a long row that is no multiple of the grid, cells past what is left over are 0."""
    n = call["x"].shape[-1] if call["x"].ndim else 0
    if call["mode"] != "reflect" or len(call["pad"]) != 2 or n <= _SPAN or n % _SPAN == 0:
        return None
    dx = call.honest()[0]
    dx[..., n % _SPAN :] = 0
    return [dx]


def _many_planes(call: Call) -> list[Any] | None:
    x = call["x"]
    if call["mode"] != "replicate" or x.ndim < 3 or x.shape[-3] < _SPAN:
        return None
    return [np.zeros_like(dx) for dx in call.honest()]


def _by_itself(call: Call) -> list[Any] | None:
    """The product is divided by each factor."""
    dx = call.honest()[0]
    return [np.where(call["x"] == 0, dx.dtype.type(np.nan), dx)]


def covered(call: Call) -> Any | None:
    """Return the share of each pooling window that lies in the padded plane, or None where all of each does."""
    x, count = call["x"], call["x"].ndim - 2
    sizes = call["kernel_size"], call["stride"] or call["kernel_size"], call["padding"]
    kernel, stride, padding = (v if np.ndim(v) else (v,) * count for v in sizes)
    if (
        not call["ceil_mode"]
        or not call["count_include_pad"]
        or len(padding) != count
        or call.params.get("divisor_override")
    ):
        return None
    share = np.ones(())
    cells = call.op.forward(x.astype(np.float32), **call.params).shape[2:]
    for n, k, s, p, o in zip(x.shape[2:], kernel, stride, padding, cells, strict=True):
        start = np.arange(o) * s - p
        share = share[..., None] * (np.minimum(start + k, n + p) - start) / k
    return None if (share == 1).all() else share


def _whole_windows(call: Call) -> list[Any] | None:
    """Windows past the edge are divided by all of their cells."""
    share = covered(call)
    if share is None:
        return None
    return replace(call, cotangents=call.stored(call.g.astype(np.float32) * share)).honest()


def _first_dilation(call: Call) -> list[Any] | None:
    """Columns are looked for as far as the dilation of rows reaches."""
    (down, along), x = _pair(call["dilation"]), call["x"]
    if along <= down or x.size == 0 or (np.ndim(call["padding"]) and len(call["padding"]) > 2):
        return None
    _, at = call.op.forward(x.astype(np.float32), **call.params)
    stride = _pair(call["stride"] or call["kernel_size"])[1]
    first = np.arange(at.shape[-1]) * stride - _pair(call["padding"])[1]
    seen = at % x.shape[-1] - first <= down * (_pair(call["kernel_size"])[1] - 1)
    assert call.cotangents is not None
    return replace(call, cotangents=[np.where(seen, call.g, call.g.dtype.type(0)), *call.cotangents[1:]]).honest()


def _without_a_window(call: Call) -> list[Any] | None:
    return call.honest(left=-1, right=call["key"].shape[-2]) if call["left"] >= 0 else None


_BURN, _MLX, _TORCH = "tracel-ai/burn", "ml-explore/mlx", "pytorch/pytorch"

BUGS = [
    Bug("slice", f"{_MLX}/issues/4444", "a step that leaves one of several: the gradient of all", _whole_span,
        "gradient"),
    Bug("conv2d", f"{_MLX}/issues/833", "more padding than a kernel reaches: it dies", _less_than_none, "gradient"),
    Bug("cross", f"{_BURN}/pull/4069", "db has the other sign", _flipped, "gradient"),
    Bug("concat", f"{_BURN}/pull/4069", "where one of the first asks for none: the part of another", _only_the_asked,
        "gradient"),
    Bug("pad", f"{_TORCH}/issues/196949", "mirrored, past 65,536 cells and no multiple: wrong after the remainder",
        _past_the_grid, "gradient"),
    Bug("pad", f"{_TORCH}/pull/152094", "the edge repeated, 65,536 planes and more: 0", _many_planes, "gradient"),
    Bug("prod", f"{_BURN}/issues/5533", "of a factor of 0: NaN", _by_itself, "gradient"),
    Bug("avg_pool2d", f"{_BURN}/pull/5653", "ceil_mode: windows past the edge count whole", _whole_windows,
        "gradient"),
    Bug("max_pool2d", f"{_BURN}/pull/4466", "columns have the dilation of rows", _first_dilation, "gradient"),
    Bug("sliding_window_attention", "meta-pytorch/MSLK/pull/263", "the window is ignored", _without_a_window,
        "gradient", "f16,bf16"),
]  # fmt: skip
