"""Pools, interpolation and sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
from bug import Bug, Call


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if np.ndim(value) == 0 else tuple(value)


def _overhang(call: Call) -> list[Any] | None:
    if not call["ceil_mode"] or not call["count_include_pad"] or call["divisor_override"]:
        return None
    return call.honest(divisor_override=int(np.prod(_pair(call["kernel_size"]))))


def _leaked(call: Call) -> list[Any] | None:
    if call["x"].shape[1] % 2 or call["x"].size == 0:
        return None
    found = call.honest()
    found[0][:, :, -1] = 12345
    return found


def _channels_last(call: Call) -> list[Any] | None:
    x, padding = call["x"], _pair(call["padding"])
    last = np.argsort(x.strides, kind="stable")[0] == x.ndim - 3 if x.ndim > 2 else False
    if padding == (0, 0) or not last or x.strides[-3] != x.itemsize or x.shape[-3] == 1:
        return None
    return [np.roll(d, padding, (-2, -1)) for d in call.honest()]


def _shape(call: Call, size: Any) -> list[Any] | None:
    """A result of the sizes that `size` tells by input, kernel, stride and padding, where the right ones are others."""
    y = call.honest()[0]
    kernel = _pair(call["kernel_size"])
    stride = _pair(call["stride"]) if call["stride"] is not None else kernel
    named = zip(call["x"].shape[-2:], kernel, stride, _pair(call["padding"]), strict=True)
    wanted = (*y.shape[:-2], *(size(*of) for of in named))
    if not call["ceil_mode"] or wanted == y.shape:
        return None
    return call.stored(np.zeros(wanted))


def _twice_up(call: Call) -> list[Any] | None:
    if "dilation" in call.params and _pair(call["dilation"]) != (1, 1):
        return None
    return _shape(call, lambda n, k, s, p: -(-(n + 2 * p - k + s - 1) // s) + 1)


def _past_the_end(call: Call) -> list[Any] | None:
    return _shape(call, lambda n, k, s, p: -(-(n + 2 * p - k) // s) + 1)


def _folded(call: Call) -> list[Any] | None:
    if _pair(call["padding"]) == (0, 0) or call["divisor_override"]:
        return None
    return call.honest(count_include_pad=False)


def _from_zero(call: Call) -> list[Any]:
    y, *rest = call.honest()
    return [np.maximum(y, y.dtype.type(0)), *rest]


def _last_row(call: Call) -> list[Any] | None:
    stride = call["stride"] if call["stride"] is not None else call["kernel_size"]
    if (_pair(call["kernel_size"]), _pair(stride), _pair(call["padding"])) != ((3, 3), (1, 1), (1, 1)):
        return None
    y, *rest = call.honest()
    y[..., -1:, -1:] = np.inf
    return [y, *rest]


def _shifted(call: Call) -> list[Any] | None:
    padding = _pair(call["padding"])
    if padding == (0, 0):
        return None
    return [np.roll(d, padding, (-2, -1)) for d in call.honest()]


def _reciprocal(call: Call) -> list[Any]:
    x = call["x"]
    at = []
    for n, out in zip(x.shape[-2:], _pair(call["size"]), strict=True):
        scale = np.float32(n) * (np.float32(1) / np.float32(out))
        at.append(np.minimum((np.arange(out, dtype=np.float32) * scale).astype(int), n - 1))
    return [x[..., at[0][:, None], at[1]].copy()]


def _one_cell(call: Call) -> list[Any] | None:
    return [np.full_like(y, np.nan) for y in call.honest()] if call["x"].shape[-2:] == (1, 1) else None


def _f16_sums(call: Call) -> list[Any] | None:
    x, g = call["x"], call.g
    if x.shape[-2:] != (1, 1):
        return None
    total = np.zeros(x.shape, np.float16)
    for cell in np.moveaxis(g.reshape(*g.shape[:-2], -1), -1, 0):
        total += cell[..., None, None]
    return [total]


def _border(call: Call) -> list[Any] | None:
    x, grid = call["x"], call["grid"]
    if (call["mode"], call["padding_mode"], call["align_corners"]) != ("bilinear", "border", True) or not call.needs[1]:
        return None
    dx, dgrid = call.honest()
    y = call.op.forward(x.astype(np.float64), grid.astype(np.float64), **call.params)
    of_y = (call.g * y).sum(1)
    for i, n in enumerate((x.shape[-1], x.shape[-2])):
        dgrid[..., i] = np.where(grid[..., i] == 1, -(n - 1) / 2 * of_y, dgrid[..., i])
    return [dx, dgrid]


BUGS = [
    Bug("avg_pool2d", "pytorch/pytorch/issues/198119", "ceil_mode's last window is divided by all of the kernel",
        _overhang, "gradient"),
    Bug("avg_pool1d", "tracel-ai/burn/issues/5308", "an even number of channels: cells never written", _leaked,
        "gradient"),
    Bug("avg_pool2d", "pytorch/pytorch/issues/188344", "channels last with padding: windows a padding off",
        _channels_last, "gradient"),
    Bug("max_pool2d", "robertknight/rten/pull/1416", "ceil_mode rounds up twice", _twice_up),
    Bug("avg_pool2d", "PaddlePaddle/Paddle/issues/51542", "ceil_mode keeps a window that begins past the end",
        _past_the_end),
    Bug("avg_pool2d", "microsoft/onnxruntime/issues/26708", "padding is not counted", _folded),
    Bug("max_pool2d", "webonnx/wonnx/pull/76", "the maximum begins at 0", _from_zero),
    Bug("max_pool2d", "tenstorrent/tt-metal/issues/14260", "3 x 3, stride 1, padding 1: the last cells unwritten",
        _last_row),
    Bug("max_pool2d", "FluxML/NNlib.jl/issues/133", "padding: gradients go to other cells", _shifted, "gradient"),
    Bug("upsample_nearest", "tracel-ai/burn/issues/4686", "the scale is a reciprocal in float32", _reciprocal),
    Bug("upsample_bicubic", "openvinotoolkit/openvino/issues/33447", "an image of one cell: NaN", _one_cell),
    Bug("upsample_bicubic", "pytorch/pytorch/issues/104157", "gradients are added up in float16", _f16_sums, "gradient",
        "f16"),
    Bug("grid_sample", "pytorch/pytorch/issues/23925", "at the border itself the cell beyond counts as 0", _border,
        "gradient"),
]  # fmt: skip
