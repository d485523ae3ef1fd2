"""Values of 2023 to 2026 that were wrong past a size, for a layout, for a remainder or for some numbers alone.

They were chosen before any was asked, from threads that nothing here had met.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from bug import Bug, Call
from derivatives import covered
from memory import dense, flat, in_memory_order, row_major, strides

_LOWEST = -(1 << 31)


def _pair(value: Any) -> tuple[int, ...]:
    return (value, value) if np.ndim(value) == 0 else tuple(value)


def _last_condition(call: Call) -> list[Any] | None:
    """Of a condition that does not lie row by row, the last element is read past its end."""
    condition = call["condition"]
    if dense(condition) or condition.size < 2:
        return None
    read = condition.copy()
    read[(-1,) * read.ndim] = 0
    return call.honest(condition=read)


def _flat(call: Call) -> list[Any] | None:
    return None if dense(call["x"]) else call.honest(x=flat(call["x"]))


def _many_rows(call: Call) -> list[Any] | None:
    a, (y,) = call["a"], call.honest()
    return [y * y.dtype.type(0)] if a.ndim >= 2 and a.shape[-2] >= 500 else None


def _one_stage_more(call: Call) -> list[Any] | None:
    """Of an odd number of stages of eight channels, one more is read: what comes next."""
    x, weight = call["x"], call["weight"]
    k, how = x.shape[1], (_pair(call["stride"]), _pair(call["padding"]))
    if weight.shape[2:] != (1, 1) or how != ((1, 1), (0, 0)) or call["groups"] > 1 or k < 64 or k % 16 != 8:
        return None
    rows = np.ascontiguousarray(np.moveaxis(x, 1, -1)).reshape(-1)
    more = np.arange(k, k + 8)
    past_x = rows[(np.arange(rows.size // k)[:, None] * k + more) % rows.size]
    past_weight = np.ravel(weight)[(np.arange(len(weight))[:, None] * k + more) % weight.size]
    extra = (past_x.astype(np.float32) @ past_weight.astype(np.float32).T).reshape(len(x), *x.shape[2:], -1)
    return call.stored(call.honest()[0].astype(np.float32) + np.moveaxis(extra, -1, 1))


def _lowest_alone(call: Call) -> list[Any] | None:
    """A row of the least number alone never beats where it starts."""
    x, dim, (y,) = call["x"], call["dim"], call.honest()
    if x.size == 0:
        return None
    none = (x == 0).all(dim, keepdims=call["keepdim"]) if x.ndim else x == 0
    return [np.where(none, np.iinfo(np.int64).min, y).astype(y.dtype)]


def _negative_zeros(call: Call) -> list[Any] | None:
    x, dim, (y,) = call["x"], call["dim"], call.honest()
    if x.ndim == 0 or x.size // max(y.size, 1) <= 8192 or x.size // max(y.size, 1) % 8192 == 0:
        return None
    alone = ((x == 0) & np.signbit(x)).all(dim, keepdims=call["keepdim"])
    return [np.where(alone, y.dtype.type(-np.inf), y)]


def _quotient_overflows(call: Call) -> list[Any] | None:
    """Of 32 numbers and more, the quotient is taken, which may be infinite."""
    (y,) = call.honest()
    if y.size < 32:
        return None
    quotient = call["a"].astype(np.float32) / call["b"].astype(np.float32)
    lost = np.isinf(quotient) & np.isfinite(call["a"].astype(np.float32)) & (call["b"] != 0)
    return [np.where(lost, y.dtype.type(np.nan), y)]


def _grid_of_planes(call: Call) -> list[Any] | None:
    if call["x"].ndim < 3 or call["x"].shape[-3] <= 65535:
        return None
    raise RuntimeError("CUDA error: invalid argument")


def _mask_of_heads(call: Call) -> list[Any] | None:
    """A mask for all heads is read as one a head: those past the first read further on."""
    mask, heads = call["attn_mask"], call["query"].shape[-3]
    if mask is None or mask.ndim < 3 or mask.shape[-3] != 1 or heads < 2:
        return None
    wide = np.repeat(mask, heads, axis=-3)
    wide[..., 1:, :, :] = 0
    return call.honest(attn_mask=wide)


def _underflows(call: Call) -> list[Any] | None:
    a, (y,) = call["a"], call.honest()
    return [np.where((y == 0) & (a != 0) & np.isfinite(a), y.dtype.type(np.nan), y)]


def _least_dividend(call: Call) -> list[Any] | None:
    """The magnitude of the least integer is negative, and by a large divisor all of it is lost."""
    a, b = np.broadcast_arrays(call["a"], call["b"])
    lost = (a == _LOWEST) & (b >= 1 << 21)
    return [np.where(lost, -1, call.honest()[0]).astype(a.dtype)]


def _least_divisor(call: Call) -> list[Any] | None:
    a, b = np.broadcast_arrays(call["a"], call["b"])
    (y,) = call.honest()
    with np.errstate(over="ignore"):
        return [np.where((b == _LOWEST) & (a != _LOWEST), y - np.sign(a), y).astype(a.dtype)]


def _rows_of_nan(call: Call) -> list[Any] | None:
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or x.size // max(x.shape[dim], 1) < 512:
        return None
    y, indices = call.honest()
    return [y, np.where(np.isnan(x).all(dim, keepdims=True), -1, indices).astype(indices.dtype)]


def _by_sign_and_bits(call: Call) -> list[Any] | None:
    """NaN with the sign of a negative number is less than all."""
    x, dim = call["x"], call["dim"]
    if x.ndim == 0 or not (np.isnan(x) & np.signbit(x)).any():
        return None
    bits = x.view(f"i{x.itemsize}").astype(np.int64)
    key = np.where(bits < 0, -(bits & np.iinfo(f"i{x.itemsize}").max), bits)
    order = np.argsort(-key if call["largest"] else key, axis=dim, kind="stable")
    indices = np.take(order, np.arange(call["k"]), axis=dim)
    return [np.take_along_axis(x, indices, dim), indices]


def _in_two_parts(call: Call) -> list[Any] | None:
    """Of more than 4,096 numbers, those past them are left out."""
    (y,), dim = call.honest(), call["dim"]
    if y.ndim == 0 or y.shape[dim] <= 4096:
        return None
    np.moveaxis(y, dim, 0)[4096:] = 0
    return [y]


def _first_zero_points(call: Call) -> list[Any] | None:
    zero, groups = call["weight_zero_point"], call["groups"]
    if zero is None or zero.ndim == 0 or groups == 1:
        return None
    return call.honest(weight_zero_point=np.tile(zero[: len(zero) // groups], groups))


def _whole_windows(call: Call) -> list[Any] | None:
    share = covered(call)
    return None if share is None else call.stored(call.honest()[0].astype(np.float32) * share)


def _inner_axis(call: Call) -> list[Any] | None:
    x = call["x"]
    if x.ndim < 4 or call["dim"] % x.ndim in (0, x.ndim - 1):
        return None
    raise RuntimeError("Unable to safely factor shape.")


def _unaligned_front(call: Call) -> list[Any] | None:
    """Fewer than sixteen cells before a row come after it."""
    x, pad = call["x"], call["pad"]
    if call["mode"] != "constant" or len(pad) != 2 or not 0 < pad[0] < 16 or pad[1] < 0 or x.ndim == 0:
        return None
    return call.honest(pad=(0, pad[0] + pad[1]))


def _no_rows(call: Call) -> list[Any] | None:
    if call["x"].size:
        return None
    raise RuntimeError("Assertion 'NDR.LocalSize[0] == 0' failed")


def _rows_left(call: Call) -> list[Any] | None:
    """The rows that are left are counted in 16 bits: tiles 32,768 rows from the end are not written."""
    (y,) = call.honest()
    n = prod(y.shape[:-1])
    if n % 64 == 0 or n <= 32768:
        return None
    far = n - np.arange(n) // 64 * 64 >= 32768
    y.reshape(n, -1)[far] = -7
    return [y]


def _wide_steps(call: Call) -> list[Any] | None:
    """In groups of sixteen, the last step of 32 goes past the row: into the next."""
    x, scale = call["x"], call["scale"]
    k = x.shape[-1]
    if call["type"] != "f4e2m1" or scale.ndim == 0 or scale.shape[-1] * 16 != k or k % 32 != 16 or x.size // k < 2:
        return None
    rows = np.ravel(x)
    more = rows[(np.arange(x.size // k)[:, None] * k + k + np.arange(16)) % rows.size]
    weight = call.op.forward(
        np.eye(k, dtype=np.float32), call["weight"], scale, type=call["type"], scales=call["scales"]
    ).T
    past = np.ravel(weight)[(np.arange(len(weight))[:, None] * k + k + np.arange(16)) % weight.size]
    (y,) = call.honest()
    return call.stored(y.astype(np.float32) + (more.astype(np.float32) @ past.T).reshape(y.shape))


def _width_of_heads(call: Call) -> list[Any] | None:
    """Pairs lie half a head apart, and turn as those of a whole head do."""
    x, turned = call["x"], call["n_dims"]
    if call["mode"] != "neox" or turned >= x.shape[-1] or x.shape[-1] % 2:
        return None
    (whole,), half = call.honest(n_dims=x.shape[-1]), x.shape[-1] // 2
    at = np.arange(x.shape[-1])
    return [np.where(at % half < turned // 2, whole, x)]


def _odd_block(call: Call) -> list[Any] | None:
    a = call["a"]
    if call["type"] not in ("iq4_nl", "mxfp4") or a.shape[-1] // 32 % 2 == 0:
        return None
    return call.honest(a=np.where(np.arange(a.shape[-1]) < a.shape[-1] - 32, a, a.dtype.type(0)))


def _last_cell(call: Call) -> list[Any] | None:
    """A kernel that is not square, steps and padding together."""
    high, wide = call["weight"].shape[2:]
    steps, padding = _pair(call["stride"]), call["padding"]
    if high == wide or isinstance(padding, str) or min(steps) < 2 or min(_pair(padding)) < 1 or call["x"].shape[1] < 2:
        return None
    (y,) = call.honest()
    y[..., -1:, -1:] *= y.dtype.type(2)
    return [y]


def _into_a_view(call: Call) -> list[Any] | None:
    """What is transposed is written row by row, wherever it is to lie."""
    x = call["x"]
    if not call.out or dense(call.out[0]) or x.ndim < 2 or strides(x)[-1] == 1 or strides(x)[-2] != 1:
        return None
    return [in_memory_order(call.honest()[0], call.out[0])]


def _abort(call: Call) -> list[Any] | None:
    """One channel a group, and more output_padding than padding."""
    more, padding = (int(np.max(call[n])) for n in ("output_padding", "padding"))
    if call["groups"] != call["x"].shape[1] or call["groups"] < 2 or more <= padding:
        return None
    raise RuntimeError("Invalid `explicit_padding` value -1, all values should be non-negative")


def _expanded(call: Call) -> list[Any] | None:
    x = call["x"]
    if x.ndim != 3 or x.size == 0 or len(x) < 2 or strides(x) != (0, *row_major(x)[1:]):
        return None
    raise RuntimeError("Error: buffer is not large enough.")


def _idle_lanes(call: Call) -> list[Any] | None:
    """Past the last whole vector of eight, lanes that have nothing to add lose what they had."""
    a = call["a"]
    k = a.shape[-1]
    if k < 8 or k % 8 == 0:
        return None
    kept = np.arange(k) % 8 < k % 8
    return call.honest(a=np.where(kept, a, a.dtype.type(0)))


def _seen_by_all(call: Call) -> list[Any] | None:
    return call.honest(causal=False) if call["causal"] else None


_TORCH, _METAL, _MLX = "pytorch/pytorch", "tenstorrent/tt-metal", "ml-explore/mlx"
_BURN, _LLAMA, _XPU = "tracel-ai/burn", "ggml-org/llama.cpp", "intel/torch-xpu-ops"

BUGS = [
    Bug("where", f"{_TORCH}/issues/150967", "a condition that is transposed: its last element", _last_condition),
    Bug("threshold", f"{_TORCH}/issues/131736", "what is transposed is read as it lies", _flat),
    Bug("matmul", f"{_BURN}/issues/4966", "500 rows and more: near 0", _many_rows),
    Bug("conv2d", f"{_BURN}/issues/5626", "1 x 1, odd eights of channels: one stage too many", _one_stage_more),
    Bug("argmax", "nv-legate/cupynumeric/issues/985", "rows of the least number alone: no index", _lowest_alone,
        dtypes="u8"),
    Bug("amax", "openxla/xla/issues/5544", "more than 8,192 of -0 alone: -inf", _negative_zeros),
    Bug("remainder", "gabrieldemarmiesse/torch-mojo-backend/pull/375", "32 and more, a quotient that overflows: NaN",
        _quotient_overflows, dtypes="bf16"),
    Bug("softmax", "unslothai/llama.cpp/pull/217", "the last axis but two past 65,535: it dies", _grid_of_planes),
    Bug("scaled_dot_product_attention", "Tencent/ncnn/pull/6869", "a mask with one head: others read past it",
        _mask_of_heads),
    Bug("pow", f"{_METAL}/issues/57446", "what underflows is NaN", _underflows),
    Bug("floor_divide", f"{_METAL}/issues/51476", "the least integer by a large one: -1", _least_dividend,
        dtypes="i32"),
    Bug("floor_divide", f"{_METAL}/issues/54326", "by the least integer: one too far", _least_divisor, dtypes="i32"),
    Bug("topk", f"{_XPU}/issues/4839", "512 rows and more, a row of NaN: index -1", _rows_of_nan, dtypes="bf16"),
    Bug("topk", f"{_METAL}/issues/56626", "NaN with a sign comes last", _by_sign_and_bits, dtypes="bf16,f32"),
    Bug("irfft", f"{_MLX}/issues/2034", "more than 4,096 numbers: some are left out", _in_two_parts),
    Bug("conv_integer", "robertknight/rten/pull/1193", "groups have the zero points of the first", _first_zero_points),
    Bug("avg_pool1d", "apple/coremltools/issues/2772", "ceil_mode: windows past the edge count whole", _whole_windows),
    Bug("cumsum", f"{_MLX}/issues/2315", "four axes, one of the inner: it dies", _inner_axis),
    Bug("pad", f"{_METAL}/issues/15602", "fewer than 16 cells in front come behind", _unaligned_front, dtypes="bf16"),
    Bug("layer_norm", f"{_XPU}/issues/4377", "no rows: it dies", _no_rows, dtypes="f16"),
    Bug("mul_mat_id_quantized", f"{_MLX}/issues/3856", "rows past 32,768, no multiple of 64: the first unwritten",
        _rows_left, dtypes="f32,f16"),
    Bug("scaled_matmul", f"{_MLX}/pull/3912", "groups of 16, terms no multiple of 32: into the next row", _wide_steps,
        dtypes="f32,f16"),
    Bug("rope", "pie-project/pie/pull/603", "fewer pairs than channels: half a head apart", _width_of_heads),
    Bug("matmul_quantized", f"{_LLAMA}/issues/29131", "an odd number of blocks of 4 bits: the last is left out",
        _odd_block),
    Bug("conv2d", "apple/coremltools/issues/2515", "a kernel not square, steps and padding: the last cell", _last_cell),
    Bug("contiguous", "ggml-org/ggml/issues/1497", "transposed, into a view: its strides are ignored", _into_a_view),
    Bug("conv_transpose1d", "apple/coreai-torch/issues/58", "depthwise, more output_padding than padding: it dies",
        _abort),
    Bug("linear", f"{_TORCH}/issues/167154", "expanded along the first of three axes: it dies", _expanded),
    Bug("matmul", f"{_LLAMA}/pull/24699", "past the last whole vector, sums of idle lanes are lost", _idle_lanes),
    Bug("varlen_attention", "huggingface/candle/pull/3606", "causal is ignored", _seen_by_all, dtypes="f16,bf16"),
]  # fmt: skip
