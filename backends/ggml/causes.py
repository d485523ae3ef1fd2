"""What ggml's CPU backend computes where it fails: the changed references that known.toml names.

Places in its source are those of ggml 0.25.3, src/ggml-cpu unless said otherwise.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from opproof.backends.causes import extract_numbers, find_cells_by_quotient, find_storage, store_as
from opproof.backends.ggml.misread import (
    find_counted_rows,
    find_rows_apart,
    find_rows_off_stride_along,
    offsets_of_rows,
    strides_of_row_major,
)
from opproof.backends.ggml.q8 import make_q8_blocks
from opproof.backends.ggml.std_sort import sort_as_std
from opproof.reference_ops import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose2d,
    gelu,
    gelu_quick,
    hardsigmoid,
    softmax_ext,
)
from opproof.reference_ops import scaled_dot_product_attention as attention
from opproof.reference_ops._gated import halves
from opproof.reference_ops._pool import max_pool, pool
from opproof.reference_ops._recurrence import from_right, outer, stacked, steps
from opproof.reference_ops._resize import far, matrix, near, resize
from opproof.reference_ops._windows import columns

#: Parameters of `pool`, with their defaults.
_POOLED = {"kernel_size": None, "stride": None, "padding": 0, "ceil_mode": False, "dilation": 1}
LOWEST = -3.4028234663852886e38  # -FLT_MAX


# Gradients: ggml_compute_backward in src/ggml.c.


def average_cotangent(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Give the second operand of add1 the mean of the cotangent (ggml.c:6798)."""
    return g, np.reshape(np.mean(g), b.shape)


def pass_cotangent(g: Any, y: Any, x: Any, **params: Any) -> Any:
    """Give the cotangent of a cast as it is, in f32 (GGML_OP_CPY, ggml.c:6964)."""
    return g


def give_zeros(g: Any, y: Any, x: Any, **params: Any) -> Any:
    """Give no gradient: the graph builder takes the input for a kernel that needs none (ggml.c:7404)."""
    return np.zeros(x.shape, like=g)


def overwrite_overlaps(g: Any, y: Any, x: Any, *, size: Any, stride: Any, storage_offset: Any = 0) -> Any:
    """Keep the last cotangent of those whose elements share a place: ggml_acc adds each to the old value (ops.cpp)."""
    flat = np.ravel(storage_offset + offsets_of_rows((*size, 1), (*stride, 1)))
    kept = {int(place): number for number, place in enumerate(flat)}
    numbers = np.array(sorted(kept.values()), dtype=np.int64)
    dx = np.zeros((math.prod(x.shape),), dtype=g.dtype, like=g)
    np.add.at(dx, flat[numbers], np.reshape(g, (flat.size,))[numbers])
    return np.reshape(dx, x.shape)


def spread_nan_of_masked_rows(g: Any, y: Any, x: Any, *others: Any, **params: Any) -> Any:
    """Multiply the NaN that a softmax gives for a row that is masked throughout (ops.cpp:6089)."""
    given, (_, sinks, keep) = softmax_ext.vjp(g, y, x, *others, **params), (*others, None, None, None)[:3]
    if keep is None or sinks is not None:
        return given
    row = np.all(np.broadcast_to(keep == 0, x.shape), axis=-1, keepdims=True)
    return np.where(row, np.nan, given[0]), *given[1:]


# Order: std::sort, and running maxima.


def take_last_largest(x: Any, *, dim: Any = None, keepdim: Any = False) -> Any:
    """Take the last of equal elements; a NaN makes the search begin anew behind it (ggml_vec_argmax_f32, vec.h)."""
    values = extract_numbers(x)
    lines = np.reshape(values, (-1,)) if dim is None else np.moveaxis(values, dim, -1)
    n, nan = lines.shape[-1], np.isnan(lines)
    part = np.cumsum(nan, axis=-1)
    last = np.max(np.where(nan, -1, part), axis=-1, keepdims=True)
    seen = ~nan & (part == last)
    largest = np.max(np.where(seen, lines, -np.inf), axis=-1, keepdims=True)
    found = n - 1 - np.argmax(np.flip(seen & (lines == largest), axis=-1), axis=-1)
    found = np.where(np.all(nan, axis=-1), 0, found)
    if not keepdim:
        return found
    return np.reshape(found, (1,) * values.ndim) if dim is None else np.expand_dims(found, dim)


def sort_unstably(x: Any, *, dim: Any = -1, descending: Any = False) -> Any:
    """Order by libstdc++'s std::sort and x[a] < x[b], where equal elements, and NaN, come as they do (ops.cpp)."""
    lines = np.moveaxis(np.asarray(extract_numbers(x), np.float64), dim, -1)
    flat = np.ascontiguousarray(lines).reshape(-1, lines.shape[-1])
    orders = [sort_as_std(row.tobytes(), bool(descending)) for row in flat]
    return np.moveaxis(np.reshape(np.array(orders, dtype=np.int64), lines.shape), -1, dim)


def sort_values_unstably(x: Any, *, dim: Any = -1, descending: Any = False) -> Any:
    """The values in the order of `sort_unstably`, and the order."""
    indices = sort_unstably(x, dim=dim, descending=descending)
    return np.take_along_axis(x, indices, axis=dim), indices


def take_first_of_order(x: Any, *, k: Any, dim: Any = -1, largest: Any = True) -> Any:
    """The first k of the order of `sort_unstably`."""
    indices = np.take(sort_unstably(x, dim=dim, descending=largest), np.arange(k), axis=dim)
    return np.take_along_axis(x, indices, axis=dim), indices


def keep_lowest(x: Any, **params: Any) -> Any:
    """Begin with -FLT_MAX, and forget what was before a NaN: std::max(x, NaN) is x (ops.cpp:7945)."""
    given: list[Any] = [params.get(name, value) for name, value in _POOLED.items()]
    how = pool(x.shape[2:], *given)
    sides = ((0, 0), (0, 0), *zip(how.padding, how.after, strict=True))
    padded = np.pad(extract_numbers(x), sides), np.pad(np.ones(x.shape, bool), sides)
    cut = functools.partial(columns, kernel=how.kernel, stride=how.stride, dilation=how.dilation, count=how.out)
    cells, there = (np.reshape(cut(p), (*x.shape[:2], -1, *how.out)) for p in padded)
    y = np.full((*x.shape[:2], *how.out), LOWEST)
    for i in range(cells.shape[2]):
        v = cells[:, :, i]
        y = np.where(there[:, :, i] & ~(v < y), v, y)
    return y, max_pool(x, how)[1]


# NaN and infinity that are lost.


def clamp_nan_to_max(x: Any, **bounds: Any) -> Any:
    """MAX(MIN(x, max), min) as macros: NaN is not less than max (ggml_compute_forward_clamp, ops.cpp)."""
    low = bounds.get("min", bounds.get("min_val")) if bounds else 0.0  # relu6 has none
    high = bounds.get("max", bounds.get("max_val")) if bounds else 6.0
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    return np.where(np.isnan(x), high, np.maximum(np.minimum(x, high), low))


def keep_positive(x: Any, *, negative_slope: Any = 0.0) -> Any:
    """Ask x > 0, then x < 0, of which NaN is neither (op_relu, ggml_vec_leaky_relu_f32)."""
    return np.where(x > 0, x, np.where(x < 0, negative_slope * x, 0) if negative_slope else 0)


def gate_positive(x: Any, gate: Any = None, *, swapped: Any = False) -> Any:
    """X > 0 ? x g : 0: the gate is not looked at where x is not positive, NaN among it (ggml_vec_reglu_f32, vec.h)."""
    a, b = halves(x, gate, swapped)
    return np.where(a > 0, np.where(a > 0, a, 0) * b, 0)


def clip_nan_to_zero(x: Any) -> Any:
    """fmaxf(0, NaN) is 0 (op_hardsigmoid, unary-ops.cpp)."""
    return np.where(np.isnan(x), 0, hardsigmoid.forward(x))


def divide_by_eps(x: Any, *, dim: Any = -1, eps: Any = 1e-12) -> Any:
    """fmaxf(NaN, eps) is eps, by which a row whose length is NaN is divided (ops.cpp)."""
    length = np.sqrt(np.sum(x * x, axis=dim, keepdims=True))
    return x / np.where(np.isnan(length), eps, np.maximum(length, eps))


def attend_to_infinite_score(query: Any, key: Any, value: Any, *others: Any, **params: Any) -> Any:
    """exp(s - M) of a running maximum: one infinite score has weight 1, all others 0 (flash attention, ops.cpp)."""
    if any(t is not None for t in others) or params.get("is_causal") or params.get("enable_gqa"):
        raise ValueError("scores are not those of query and key alone")
    scores = np.matmul(extract_numbers(query), np.swapaxes(extract_numbers(key), -1, -2))
    infinite = scores == np.inf
    alone = (np.sum(infinite, axis=-1, keepdims=True) == 1) & ~np.any(np.isnan(scores), axis=-1, keepdims=True)
    given = attention.forward(query, key, value, **params)
    return np.where(alone, np.matmul(infinite.astype(float), value), given)


# Tables of f16, and digits that cancel.


def look_up_gelu(x: Any, *, approximate: Any = "none") -> Any:
    """The table of f16 between -10 and 10, 0 below and x above (ggml_vec_gelu_f32, vec.h)."""
    return np.where(x <= -10, 0, np.where(x >= 10, x, _look_up_gelu(x)))


def look_up_geglu(x: Any, gate: Any = None, *, swapped: Any = False) -> Any:
    """The table of f16 times the gate between -10 and 10; below, 0 whatever the gate (ggml_vec_geglu_f32, vec.h)."""
    a, b = halves(x, gate, swapped)
    return np.where(a <= -10, 0, np.where(a >= 10, a, _look_up_gelu(a)) * b)


def _look_up_gelu(x: Any) -> Any:
    return store_as(gelu.forward(store_as(x, "f16"), approximate="tanh"), "f16")


def look_up_gelu_quick(x: Any) -> Any:
    """The table of f16, whose x is infinite past 65504 (ggml_vec_gelu_quick_f32, vec.h)."""
    return store_as(gelu_quick.forward(store_as(x, "f16")), "f16")


def look_up_geglu_quick(x: Any, gate: Any = None, *, swapped: Any = False) -> Any:
    """The table of f16 times the gate."""
    a, b = halves(x, gate, swapped)
    return look_up_gelu_quick(a) * b


def subtract_from_exp(x: Any) -> Any:
    """exp(x) - 1 (op_expm1, unary-ops.cpp)."""
    return np.exp(x) - 1


def log_of_one_and_exp(x: Any, *, beta: Any = 1.0, threshold: Any = 20.0) -> Any:
    """log(1 + exp(x)) up to 20 (op_softplus, unary-ops.cpp)."""
    return np.where(x > threshold, x, np.log(1 + np.exp(np.where(x > threshold, 0, x))))


def scan_with_plain_softplus(state: Any, x: Any, dt: Any, A: Any, B: Any, C: Any, ids: Any) -> Any:
    """Step by log(1 + exp(dt)) (ggml_compute_softplus_f32, ggml-impl.h)."""
    s, y, heads = state[ids], [], x.shape[2]
    step_of, groups = log_of_one_and_exp(dt)[..., None], heads // B.shape[2]
    for xt, step, bt, ct in steps(x, step_of, np.repeat(B, groups, axis=2), np.repeat(C, groups, axis=2)):
        s = np.exp(step * A)[..., None, :] * s + outer(step * xt, bt)
        y.append(from_right(s, ct))
    return stacked(y), s


def step_by_rounded_betas(param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any, **params: Any) -> Any:
    """1 - beta of the betas in f32; the corrections 1 / (1 - beta^step) are the caller's (ops.cpp)."""
    defaults = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01, "step": 1}
    beta1, beta2, eps, decay, step = (params.get(name, value) for name, value in defaults.items())
    first, second = float(np.float32(beta1)), float(np.float32(beta2))
    m = first * exp_avg + (1 - first) * grad
    v = second * exp_avg_sq + (1 - second) * (grad * grad)
    size = np.sqrt(v / (1 - beta2**step)) + eps
    return param * (1 - params["lr"] * decay) - params["lr"] * (m / (1 - beta1**step)) / size, m, v


def round_halves_away(x: Any) -> Any:
    """Round halves away from zero (op_round, unary-ops.cpp)."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) == 0.5, whole + np.sign(x), np.rint(x))


def quantise_halves_to_even(x: Any, *, type: Any) -> Any:
    """Round x 127 / max to even in f32, as the AVX2 code does (quantize_row_q8_0 and _q8_1, arch/x86/quants.c)."""
    if type not in ("q8_0", "q8_1"):
        raise ValueError(f"{type} has no vector code of this kind")
    blocks = make_q8_blocks(np.reshape(np.asarray(extract_numbers(x), np.float32), (-1, 32)), summed=type == "q8_1")
    return np.reshape(blocks, (*x.shape[:-1], x.shape[-1] // 32 * blocks.shape[-1]))


def set_rows_halves_to_even(x: Any, source: Any, indices: Any, *, type: Any) -> Any:
    """The rows set as `quantise_halves_to_even` codes them."""
    y = np.array(extract_numbers(x))
    places = np.broadcast_to(extract_numbers(indices), (*x.shape[:-2], indices.shape[-1]))
    np.put_along_axis(y, places[..., None], quantise_halves_to_even(source, type=type).astype(y.dtype), axis=-2)
    return y


# Windows.


def mix_batch_and_channels(x: Any, weight: Any, bias: Any = None, **params: Any) -> Any:
    """Read (channels, batch, length) as (batch, channels, length) (ggml_conv_1d, ggml.c:4625)."""
    y = conv1d.forward(x, weight, None, **params)
    y = np.reshape(np.swapaxes(y, 0, 1), y.shape)
    return y if bias is None else y + bias[:, None]


def transpose_first_image(x: Any, weight: Any, bias: Any = None, **params: Any) -> Any:
    """Compute the first image of a batch alone (ggml_compute_forward_conv_transpose_2d before 0.22)."""
    y = conv_transpose2d.forward(x, weight, None, **params)
    first = np.reshape(np.arange(x.shape[0]) == 0, (-1, 1, 1, 1))
    y = np.where(first, y, 0)
    return y if bias is None else y + bias[:, None, None]


def convolve_in_f16(x: Any, weight: Any, bias: Any = None, **params: Any) -> Any:
    """Round image and kernel to f16: ggml_conv_2d and ggml_conv_3d unfold into f16 since 0.17 (ggml.c:4772, 4841)."""
    conv = conv2d if weight.ndim == 4 else conv3d
    return conv.forward(store_as(x, "f16"), store_as(weight, "f16"), bias, **params)


def differentiate_f16_columns(g: Any, y: Any, x: Any, weight: Any, bias: Any = None, **params: Any) -> Any:
    """Give the kernel the gradient of an image rounded to f16; that of the image is of the kernel as it is."""
    return conv2d.vjp(g, y, store_as(x, "f16"), weight, bias, **params)


def count_by_wrong_rows(a: Any, b: Any) -> Any:
    """Find rows with ne03 for ne02 ne01, and ne02 for ne01; what lies outside equals nothing (ops.cpp)."""
    read = find_counted_rows(a.shape)
    size, same = math.prod(a.shape), np.ravel(extract_numbers(a) == extract_numbers(b))
    inside = (read >= 0) & (read < size)
    return np.sum(np.where(inside, same[np.clip(read, 0, size - 1)], False)) if size else np.sum(same)


def counts_beyond_end(question: Any) -> Any:
    """Whether elements outside both operands are compared."""
    shape = question.inputs[0].shape
    read = find_counted_rows(shape)
    return bool(read.size) and bool(np.any((read < 0) | (read >= math.prod(shape))))


def count_beyond_end(question: Any) -> Any:
    """The count, where elements outside both operands are compared."""
    return np.array(counts_beyond_end(question))


# Strides that are not looked at: what is read lies elsewhere, in a gap or behind the end.


def _strides_of(question: Any, name: Any) -> Any:
    """Strides of the tensor in elements as ggml has it: one that repeats elements is copied before."""
    index = question.names.index(name)
    shape, strides = question.inputs[index].shape, find_storage(question, name).strides
    if any(s <= 0 for n, s in zip(shape, strides, strict=True) if n > 1):
        strides = strides_of_row_major(shape)
    return shape, strides


def rows_elsewhere(question: Any) -> Any:
    """Elements of rows that are looked for at their number times nb[1]."""
    shape, strides = _strides_of(question, question.names[0])
    return find_rows_off_stride_along(shape, strides, question.params.get("dim", -1) % max(len(shape), 1))


def has_rows_elsewhere(question: Any) -> Any:
    """Whether a row of the first tensor is looked for where it is not."""
    return bool(np.any(rows_elsewhere(question)))


def steps_by_strides_of_parameter(question: Any) -> Any:
    """Elements of all results whose gradient lies elsewhere than the parameter's strides say."""
    wrong = np.broadcast_to(find_rows_apart(*_strides_of(question, "grad"))[..., None], question.inputs[0].shape)
    return (wrong,) * len(question.outputs)


def channels_of_strided_weight(question: Any) -> Any:
    """Channels of ssm_conv whose weights lie elsewhere than in a contiguous tensor."""
    return np.broadcast_to(find_rows_apart(*_strides_of(question, "weight")), question.outputs[0].shape)


def heads_of_strided_sinks(question: Any) -> Any:
    """Heads of a softmax, or of attention, whose sink lies elsewhere than in a contiguous vector."""
    (stride,) = find_storage(question, "sinks").strides
    heads = question.inputs[question.names.index("sinks")].shape[0]
    wrong = (np.arange(heads) * stride != np.arange(heads))[:, None, None]
    return np.broadcast_to(wrong, question.outputs[0].shape)


def pairs_of_strided_factors(question: Any) -> Any:
    """Channels that turn by a frequency factor which lies elsewhere than in a contiguous vector."""
    (stride,) = find_storage(question, "freq_factors").strides
    x, turned, mode = question.inputs[0], question.params["n_dims"], question.params["mode"]
    channel = np.arange(x.shape[-1])
    pair = channel // 2 if mode == "norm" else channel % (turned // 2)
    return np.broadcast_to((channel < turned) & (pair > 0) & (stride != 1), x.shape)


def _find_image_rows_elsewhere(question: Any) -> Any:
    """The image, 1 in its rows that are looked for at their number times the width."""
    shape, strides = _strides_of(question, "x")
    apart = len(shape) == 4 and (shape[-1] == 1 or strides[-1] == 1) and strides[-2] != shape[-1]
    return np.broadcast_to(apart * (np.arange(shape[-2]) > 0.0)[:, None], shape)


def columns_of_strided_image(question: Any) -> Any:
    """Columns of im2col that hold an element of such a row."""
    return question.op.forward(_find_image_rows_elsewhere(question), **question.params) != 0


def windows_of_strided_image(question: Any) -> Any:
    """Results of a convolution whose window has an element of such a row; of gradients that of the kernel."""
    image = _find_image_rows_elsewhere(question)
    weight = question.inputs[question.names.index("weight")]
    if str(question.mode) == "forward":
        return conv2d.forward(image, np.ones(weight.shape), None, **question.params) != 0
    return tuple(np.full(weight.shape, np.any(image)) if n == "weight" else None for n in question.names)


# Predicates on the case.


def is_of_nothing(question: Any) -> Any:
    """Whether an operand has no elements."""
    return any(x is not None and 0 in x.shape for x in question.inputs)


def has_odd_channels(question: Any) -> Any:
    """Whether the number of channels is odd."""
    return question.inputs[0].shape[-1] % 2 == 1


def has_few_factors(question: Any) -> Any:
    """Whether fewer frequency factors are given than there are pairs of channels."""
    factors = question.inputs[question.names.index("freq_factors")]
    return factors is not None and factors.size < question.inputs[0].shape[-1] // 2


def needs_gradient_of_sinks(question: Any) -> Any:
    """Whether the gradient of the sinks is asked for."""
    return "sinks" in question.names and bool(question.needs[question.names.index("sinks")])


def has_rest_of_head(question: Any) -> Any:
    """Whether heads are no multiple of 64, the elements of four vectors of AVX-512; with AVX2 they are 32."""
    return question.inputs[0].shape[-1] % 64 != 0


def everything(question: Any) -> Any:
    """All results: what is read and written lies behind each head."""
    return tuple(np.ones(y.shape, dtype=bool) for y in question.outputs)


# Places of a resized image, found by a quotient of f32 (ggml_compute_forward_upscale_f32, ops.cpp).


def _divide_places(n: int, out: int, align_corners: bool) -> tuple[Any, Any]:
    """The cell below each place along an axis, and how far behind it the place is."""
    scale, offset = np.float32(out) / np.float32(n), np.float32(0 if align_corners else 0.5)
    if align_corners and n > 1 and out > 1:
        scale = np.float32(out - 1) / np.float32(n - 1)
    place = (np.arange(out, dtype=np.float32) + offset) / scale - offset
    cell = np.floor(place)
    return cell.astype(np.int64), (place - cell).astype(np.float64)


def _interpolate_between(n: int, out: int, align_corners: bool, like: Any) -> Any:
    cell, t = _divide_places(n, out, align_corners)
    t = np.where(cell < 0, 0.0, t) + np.zeros(t.shape, like=like)
    return matrix([(np.maximum(cell, 0), 1 - t), (np.maximum(cell, 0) + 1, t)], n)


def _interpolate_among_four(n: int, out: int, align_corners: bool, like: Any) -> Any:
    cell, t = _divide_places(n, out, align_corners)
    t = t + np.zeros(t.shape, like=like)
    return matrix([(cell - 1, far(t + 1)), (cell, near(t)), (cell + 1, near(1 - t)), (cell + 2, far(2 - t))], n)


def _resize_by(weights: Any) -> Any:
    def forward(x: Any, *, size: Any, align_corners: Any = False) -> Any:
        return resize(x, *(weights(n, out, align_corners, x) for n, out in zip(x.shape[2:], size, strict=True)))

    return forward


#: A place that is a cell's may come just below it: the corners of align_corners mix in their neighbours.
divide_places_by_scale = {
    "upsample_nearest": find_cells_by_quotient,
    "upsample_bilinear": _resize_by(_interpolate_between),
    "upsample_bicubic": _resize_by(_interpolate_among_four),
}


def subtract_quotient_of_tanh(x: Any) -> Any:
    """Take 2 / (1 + exp(2x)) away from 1, as ggml's Vulkan shader does: digits are lost near 0."""
    return 1 - 2 / (1 + np.exp(2 * x))
