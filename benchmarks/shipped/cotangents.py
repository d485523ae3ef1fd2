"""Gradients of 2025 and 2026 that were wrong past a size, for a layout, or for a parameter together with either.

They were chosen before any was asked, from threads that nothing here had met.
"""

from __future__ import annotations

from math import gcd, prod
from typing import Any

import numpy as np
from bug import Bug, Call
from memory import dense, strides

_GRID = 65535  # the most that a launch has along its second or third axis


def _ints(value: Any, count: int) -> tuple[int, ...]:
    return (value,) * count if np.ndim(value) == 0 else tuple(value)


def channels_last(x: Any) -> bool:
    """Whether four axes are stored with the second innermost, and could not be told from dense ones otherwise."""
    if x.ndim != 4 or dense(x) or x.size == 0:
        return False
    _, c, h, w = x.shape
    return strides(x)[1:] == (1, w * c, c) and strides(x)[0] == h * w * c


def _packed(x: Any) -> bool:
    """Row by row, or with heads beside tokens."""
    return dense(x) or (x.ndim == 4 and bool(np.swapaxes(x, 1, 2).flags.c_contiguous))


def _sliced_heads(call: Call) -> list[Any] | None:
    """Slices of one projection, of heads of 256: dV lies as packed ones do."""
    query, value = call["query"], call["value"]
    if query.shape[-1] != 256 or not call.needs[2] or any(_packed(call[n]) for n in ("query", "key", "value")):
        return None
    return call.instead("value", np.roll(call.honest()[2], 1, axis=-2)) if value.shape[-2] > 1 else None


def _narrow_values(call: Call) -> list[Any] | None:
    """The gradient of values is stored in steps of that of keys."""
    heads, values = (-(-call[n].shape[-1] // 16) * 16 for n in ("query", "value"))
    if heads < 128 or not call.needs[2] or values // 2 % gcd(32, heads // 2) == 0:
        return None
    dv = call.honest()[2].copy()
    dv[..., -16:] = np.roll(dv[..., -16:], 1, axis=-1)
    return call.instead("value", dv)


def _one_cell(call: Call) -> list[Any] | None:
    """Of planes of one cell, what a channels-last weight gets is written row by row."""
    x, weight = call["x"], call["weight"]
    if x.shape[2:] != (1, 1) or not channels_last(weight) or not call.needs[1]:
        return None
    dw = np.moveaxis(call.honest()[1], 1, -1)
    return call.instead("weight", np.ascontiguousarray(dw).reshape(weight.shape))


def _two_stages(call: Call) -> list[Any] | None:
    """Of many rows, gradients of the weight and the bias have one axis."""
    x, shape = call["x"], call["normalized_shape"]
    if np.size(shape) < 2 or x.size // max(prod(shape), 1) <= _GRID:
        return None
    dx, *rest = call.honest()
    return [dx, *(d if d is None else d.reshape(-1) for d in rest)]


def _none_counted(call: Call) -> list[Any] | None:
    """Where no old value counts, 0 is divided by 0."""
    if call["include_self"] or call["reduce"] not in ("amax", "amin"):
        return None
    dx, _, dsrc = call.honest()
    index, dim = call["index"], call["dim"]
    if dx is not None and dx.ndim:
        dx = dx.copy()
        np.put_along_axis(dx, index, np.nan, dim)
    return [dx, None, dsrc if dsrc is None else np.full_like(dsrc, np.nan)]


def _cells_left(call: Call) -> list[Any] | None:
    """Groups, steps and cells that no step reaches: a longer kernel."""
    x, weight = call["x"], call["weight"]
    (stride,), (dilation,) = _ints(call["stride"], 1), _ints(call["dilation"], 1)
    if call["groups"] < 2 or stride < 2 or not call.needs[1] or isinstance(call["padding"], str):
        return None
    reach = x.shape[2] + 2 * _ints(call["padding"], 1)[0] - dilation * (weight.shape[2] - 1) - 1
    if reach % stride == 0:
        return None
    found = call.honest()
    more = np.zeros((*weight.shape[:2], weight.shape[2] + reach % stride), weight.dtype)
    more[..., : weight.shape[2]] = found[1]
    return [found[0], more, *found[2:]]


def _not_launched(call: Call) -> list[Any] | None:
    if prod(call["query"].shape[:-3]) <= _GRID:
        return None
    return [d if d is None else np.zeros_like(d) for d in call.honest()]


def _split_scan(call: Call) -> list[Any] | None:
    x = call["x"]
    if x.ndim == 0 or x.shape[call["dim"]] < 8193:
        return None
    raise RuntimeError("NotImplementedError: NYI TritonSplitDimKernel reductions")


def _corner(call: Call) -> list[Any] | None:
    """The cotangent is taken for a kernel, whose corner is a number of 8 bits."""
    if not call.needs[1] or max(call.g.shape[2:]) <= 128:
        return None
    raise RuntimeError("Upper corner must be in range [-128, 127] for 4D im2col")


_FLASH, _XPU, _HALVES = "Dao-AILab/flash-attention", "intel/torch-xpu-ops", "f16,bf16"

BUGS = [
    Bug("scaled_dot_product_attention", f"{_FLASH}/issues/2541", "heads of 256, slices: dV lies elsewhere",
        _sliced_heads, "gradient", _HALVES),
    Bug("scaled_dot_product_attention", f"{_FLASH}/issues/2552", "values narrower than heads: the last columns of dV",
        _narrow_values, "gradient", _HALVES),
    Bug("conv2d", f"{_XPU}/issues/4693", "planes of one cell, a channels-last weight: its gradient lies elsewhere",
        _one_cell, "gradient"),
    Bug("layer_norm", f"{_XPU}/issues/5235", "65,536 rows and more of several axes: dweight has one axis", _two_stages,
        "gradient"),
    Bug("scatter_reduce", "pytorch/pytorch/issues/168358", "amax without the old value: NaN", _none_counted,
        "gradient"),
    Bug("conv1d", "ml-explore/mlx/issues/2184", "groups, steps and cells left over: dweight has another shape",
        _cells_left, "gradient"),
    Bug("scaled_dot_product_attention", "SandAI-org/MagiAttention/pull/40", "65,536 batches and more: 0",
        _not_launched, "gradient", _HALVES),
    Bug("cumprod", "pytorch/pytorch/issues/183250", "rows of 8,193 and more: it dies", _split_scan, "gradient"),
    Bug("conv2d", "tracel-ai/burn/issues/4445", "results wider than 128: dweight is refused", _corner, "gradient"),
]  # fmt: skip
