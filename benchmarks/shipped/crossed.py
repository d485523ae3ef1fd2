"""Values of 2022 to 2026 that were wrong where two things met: a size, a layout, a parameter, a dtype, a broadcast.

They were chosen before any was asked, from threads that nothing here had met.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from bug import Bug, Call
from cotangents import channels_last
from layouts import read_flat, written_flat
from memory import dense, flat, reread, strides

_GRID = 65535  # the most that a launch has along its second or third axis


def _pair(value: Any) -> tuple[int, ...]:
    return (value, value) if np.ndim(value) == 0 else tuple(value)


def _misaligned(call: Call) -> list[Any] | None:
    """The second half of a row begins at no multiple of sixteen bytes."""
    if call["gate"] is not None or call["x"].shape[-1] // 2 % 8 != 4:
        return None
    raise RuntimeError("cudaErrorMisalignedAddress")


def _flipped_in_memory(call: Call) -> list[Any] | None:
    """Channels last are read row by row, and the result is written so."""
    x = call["x"]
    if not channels_last(x):
        return None
    return [reread(np.ascontiguousarray(call.honest(x=flat(x))[0]), strides(x))]


def _gathered_flat(call: Call) -> list[Any] | None:
    return call.honest(x=flat(call["x"])) if channels_last(call["x"]) else None


def _no_more_padding(call: Call) -> list[Any] | None:
    return call.honest(output_padding=0) if np.max(call["output_padding"]) > 0 else None


def _few_workers(call: Call) -> list[Any] | None:
    """Of planes of vectors of two or four, as many results are written as there are vectors."""
    cells = prod(call["x"].shape[2:])
    wide = 4 if cells % 4 == 0 else 2 if cells % 2 == 0 else 1
    if wide == 1:
        return None
    (y,) = call.honest()
    y.reshape(-1)[y.size // wide :] = 0
    return [y]


def _lost_carries(call: Call) -> list[Any] | None:
    """Past a wavefront, every 32nd element misses what came before its own."""
    x, dim, (y,) = call["x"], call["dim"], call.honest()
    if x.ndim == 0 or dim % x.ndim != x.ndim - 1 or x.shape[-1] <= 64:
        return None
    for i in range(95, x.shape[-1], 32):
        y[..., i] = np.logaddexp.reduce(x[..., i // 64 * 64 : i + 1].astype(np.float32), axis=-1)
    return [y]


def _past_its_terms(call: Call) -> list[Any] | None:
    """Rows further apart than they are long: the last step, which is no whole one, is lost."""
    a = call["a"]
    if a.ndim < 2 or a.shape[-2] < 2 or a.size == 0:
        return None
    k = a.shape[-1]
    if strides(a)[-1] != 1 or strides(a)[-2] <= k or k % 32 == 0:
        return None
    return call.honest(a=np.where(np.arange(k) < k - k % 32, a, a.dtype.type(0)))


def _dilated_ceiling(call: Call) -> list[Any] | None:
    if not call["ceil_mode"] or max(_pair(call["dilation"])) == 1:
        return None
    raise RuntimeError("TT_FATAL: dilation")


def _begin_in_padding(call: Call) -> list[Any] | None:
    """Windows that begin in the padding behind are kept."""
    x, kernel = call["x"], _pair(call["kernel_size"])
    stride, padding = _pair(call["stride"] or kernel), call["padding"]
    if not call["ceil_mode"] or np.size(padding) > 2:
        return None
    axes = zip(x.shape[2:], kernel, stride, _pair(padding), strict=True)
    cells = [-(-(n + 2 * p - k) // s) + 1 for n, k, s, p in axes]
    (y,) = call.honest()
    if tuple(cells) == y.shape[2:]:
        return None
    more = [(0, max(c - n, 0)) for c, n in zip(cells, y.shape[2:], strict=True)]
    return [np.pad(y, [(0, 0), (0, 0), *more])]


def _whole_extent(call: Call) -> list[Any] | None:
    """Of channels last, the cells between those of a dilated window count."""
    dilation = _pair(call["dilation"])
    if max(dilation) == 1 or not channels_last(call["x"]):
        return None
    reach = tuple(d * (k - 1) + 1 for d, k in zip(dilation, _pair(call["kernel_size"]), strict=True))
    stride = call["stride"] or call["kernel_size"]
    return call.honest(kernel_size=reach, dilation=1, stride=stride)


def _odd_channels(call: Call) -> list[Any] | None:
    channels = call["x"].shape[1]
    if channels <= 32 or channels % 32 == 0:
        return None
    y, *rest = call.honest()
    y[:, channels // 32 * 32 :] = 0
    return [y, *rest]


def _idle_divisors(call: Call) -> list[Any] | None:
    """Lanes past the end of a row have 0 for a divisor, and are looked at."""
    a, b = call["a"], call["b"]
    shape = np.broadcast_shapes(a.shape, b.shape)
    n = shape[-1] if shape else 1
    if len(shape) < 2 or n % 2 == 0 or n == 1 or b.size != n or b.shape[-1] != n or prod(shape) == n:
        return None
    raise ZeroDivisionError


def _many_rows(call: Call) -> list[Any] | None:
    if call["num_rows"] <= _GRID:
        return None
    raise RuntimeError("GET_ROWS_BACK failed: invalid argument")


def _wide(call: Call) -> list[Any] | None:
    sizes = (_pair(call[n])[-1] for n in ("kernel_size", "dilation", "padding", "stride"))
    kernel, dilation, padding, stride = sizes
    if (call["x"].shape[-1] + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 <= _GRID:
        return None
    raise RuntimeError("invalid configuration argument")


def _last_inside(call: Call) -> list[Any] | None:
    """The last axis stored second, odd, and many of the third: the zero point is left out at its end."""
    data, zero = call["data"], call["zero_point"]
    if call["type"] != "u8" or zero is None or not np.any(zero) or data.ndim != 4 or dense(data):
        return None
    if not np.moveaxis(data, 3, 1).flags.c_contiguous or data.shape[2] <= 16 or data.shape[3] % 2 == 0:
        return None
    (y,), (without,) = call.honest(), call.honest(zero_point=None)
    y[..., -1] = without[..., -1]
    return [y]


def _rows_of_source(call: Call) -> list[Any] | None:
    """Along no first axis: rows past the first of what is added are read at another stride."""
    source, dim = call["source"], call["dim"]
    if source.ndim == 0 or source.size < 256:
        return None
    rows = prod(source.shape[: dim % source.ndim])
    if rows < 2:
        return None
    read = source.copy().reshape(rows, -1)
    read[1:] = np.roll(read[1:], 1, axis=1)
    return call.honest(source=read.reshape(source.shape))


def _five_to_four(call: Call) -> list[Any] | None:
    x, dim = call["x"], call["dim"]
    if x.ndim != 5 or call["keepdim"] or np.size(dim) != 1 or dim is None or int(np.ravel(dim)[0]) % 5 != 4:
        return None
    return [np.ascontiguousarray(call.honest()[0][:, :, :1].swapaxes(2, 3))]


def _five_letters(call: Call) -> list[Any] | None:
    if max(call["a"].ndim, call["b"].ndim) < 5:
        return None
    raise RuntimeError('[Invalid ShaderModule "Einsum"] is invalid')


def _rolled_flat(call: Call) -> list[Any] | None:
    x = call["x"]
    return call.honest(x=flat(x)) if x.ndim and not dense(x) and strides(x)[-1] == 1 else None


def _outer_grid(call: Call) -> list[Any] | None:
    if max(call["x"].shape[-4:-2], default=0) <= _GRID:
        return None
    raise RuntimeError("CUDA error: invalid argument")


def _past_vectors(call: Call) -> list[Any] | None:
    """Planes of no multiple of four: the cells past their last vector."""
    x = call["x"]
    cells = prod(x.shape[2:])
    if x.ndim < 3 or cells % 4 == 0:
        return None
    (y,) = call.honest()
    planes = y.reshape(*x.shape[:2], -1)
    planes[..., cells // 4 * 4 :] = 0
    return [y]


def _long_vectors(call: Call) -> list[Any] | None:
    a, b, (y,) = call["a"], call["b"], call.honest()
    return [np.zeros_like(y)] if a.ndim == b.ndim == 1 and min(a.size, b.size) >= 160 else None


def _one_by_many(call: Call) -> list[Any] | None:
    """One matrix by each of a batch, terms of no multiple of sixteen: the rest is left out."""
    a, b = call["a"], call["b"]
    if a.ndim != 2 or b.ndim != 3 or a.shape[-1] % 16 == 0:
        return None
    k = a.shape[-1]
    return call.honest(a=np.where(np.arange(k) < k - k % 16, a, a.dtype.type(0)))


def _one_number(call: Call) -> list[Any] | None:
    return call.honest(count_include_pad=False) if call["x"].size == 1 and np.max(call["padding"]) > 0 else None


def _long_rows(call: Call) -> list[Any] | None:
    (y,) = call.honest()
    return [np.zeros_like(y)] if y.size and call["x"].size // y.size > 16384 else None


def _one_axis(call: Call) -> list[Any] | None:
    weight = call["weight"]
    rows = np.arange(weight.shape[2])[:, None]
    return call.honest(weight=np.where(rows == 0, weight, weight.dtype.type(0))) if len(rows) > 1 else None


def _one_stage(call: Call) -> list[Any] | None:
    """Whole tiles, and no more terms than a stage has: it is added up as often as there are threads of a tile."""
    a, b = call["a"], call["b"]
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != 8 or a.shape[-2] % 128 or b.shape[-1] % 128 or a.size == 0:
        return None
    (y,) = call.honest()
    return [y * y.dtype.type(8)]


def _channel_bias(call: Call) -> list[Any] | None:
    a, b = call["a"], call["b"]
    if not channels_last(a) or b.shape[-3:] != (a.shape[1], 1, 1) or b.size != a.shape[1]:
        return None
    return call.honest(a=flat(a))


_TORCH, _LLAMA, _TVM, _METAL = "pytorch/pytorch", "ggml-org/llama.cpp", "apache/tvm", "tenstorrent/tt-metal"
_ONEDNN, _ORT = "uxlfoundation/oneDNN", "microsoft/onnxruntime"

BUGS = [
    Bug("swiglu", "flashinfer-ai/flashinfer/issues/2526", "halves of an odd number of fours: it dies", _misaligned,
        dtypes="f16,bf16"),
    Bug("flip", "pytorch/executorch/pull/21828", "channels last are read row by row", _flipped_in_memory),
    Bug("gather", "pytorch/executorch/pull/21828", "channels last are read row by row", _gathered_flat),
    Bug("bmm", "ROCm/aiter/pull/5385", "a result with strides is written as dense", written_flat, dtypes="bf16"),
    Bug("conv_transpose2d", f"{_TVM}/issues/18601", "output_padding is ignored", _no_more_padding),
    Bug("instance_norm", f"{_ORT}/pull/25092", "planes of vectors: all but a half or a quarter is 0", _few_workers),
    Bug("logcumsumexp", "ROCm/triton/issues/947", "rows past 64: one of 32 misses a carry", _lost_carries),
    Bug("mean", "flagos-ai/FlagGems/pull/1786", "strides are ignored", read_flat("x")),
    Bug("matmul", f"{_ONEDNN}/pull/3060", "gapped rows of no multiple of 32: their end is left out", _past_its_terms,
        dtypes="f16"),
    Bug("max_pool2d", f"{_METAL}/issues/25894", "dilation and ceil_mode: it dies", _dilated_ceiling),
    Bug("avg_pool2d", f"{_TVM}/pull/18641", "ceil_mode: windows that begin in the padding behind", _begin_in_padding),
    Bug("max_pool2d", f"{_TORCH}/issues/76432", "channels last and dilation: the cells between count", _whole_extent),
    Bug("max_pool2d", f"{_METAL}/issues/15731", "channels past 32 and no multiple: 0", _odd_channels, dtypes="bf16"),
    Bug("remainder", f"{_TORCH}/issues/191968", "odd rows by one row: it dies", _idle_divisors, dtypes="i16,i32"),
    Bug("get_rows_back", f"{_LLAMA}/pull/25103", "more than 65,535 rows: it dies", _many_rows),
    Bug("im2col", "ggml-org/ggml/pull/1485", "more than 65,535 columns: it dies", _wide, dtypes="f32,f16"),
    Bug("dequantize_linear", f"{_ONEDNN}/issues/2213", "the last axis stored second, odd: zero points are left out",
        _last_inside),
    Bug("index_add", "ml-explore/mlx/issues/3477", "past the first axis: rows of another stride", _rows_of_source),
    Bug("sum", "openvinotoolkit/openvino/pull/33161", "the last of five axes, not kept: another shape",
        _five_to_four),
    Bug("einsum", f"{_ORT}/issues/27762", "five axes: it dies", _five_letters),
    Bug("roll", f"{_LLAMA}/pull/25928", "permuted, rows kept: strides are ignored", _rolled_flat),
    Bug("linear", f"{_TORCH}/issues/161640", "strides of the weight are ignored", read_flat("weight")),
    Bug("rms_norm", f"{_LLAMA}/issues/27901", "outer axes past 65,535: it dies", _outer_grid),
    Bug("batch_norm", "intel/torch-xpu-ops/pull/1238", "planes of no multiple of four: their end is 0", _past_vectors),
    Bug("outer_product", "tensorflow/tfjs/issues/7448", "two vectors of 160 and more: 0", _long_vectors),
    Bug("matmul", "iree-org/iree/issues/11630", "one matrix by a batch, no multiple of 16: the rest is left out",
        _one_by_many, dtypes="f16"),
    Bug("avg_pool1d", f"{_TORCH}/issues/143720", "one number and padding: not divided", _one_number),
    Bug("amin", "openxla/xla/issues/7112", "more than 16,384 terms: 0", _long_rows, dtypes="f16"),
    Bug("conv_transpose2d", "huggingface/candle/pull/3279", "a kernel of one axis", _one_axis, dtypes="bf16"),
    Bug("matmul", "NVIDIA/cutlass/issues/2697", "whole tiles and eight terms: eight times", _one_stage),
    Bug("add", "ROCm/MIOpen/issues/2860", "channels last and one number a channel: strides are ignored",
        _channel_bias),
]  # fmt: skip
