"""What OpenVINO's CPU plugin computes where it is known to fail: see known.toml."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.backends.causes import compute_once, store_as, subtract_one_from_exp, subtract_one_from_scaled_exp
from opproof.core.dtypes import DTYPES
from opproof.core.tuples import tuple_of, unpack_single
from opproof.harness.reference.montecarlo.array import NoisyArray
from opproof.harness.reference.rounded_arithmetic import unwrap
from opproof.reference_ops import load, names
from opproof.reference_ops._arrays import sigmoid
from opproof.reference_ops._norm import affine
from opproof.reference_ops._pool import avg_pool, divisors, pool
from opproof.reference_ops._windows import per_axis
from opproof.reference_ops.local_response_norm import _gathered as gathered

#: The largest number of float32, which stands for infinity where float64 is converted to float32 and back.
LARGEST = float(np.finfo(np.float32).max)
#: exp is infinite above, sigmoid is 0 below: 2^(n - 1) of n = floor(x log2(e) + 1/2) is no normal number.
EXP_END = 88.3762626647949
SIGMOID_END = -125.5 * math.log(2)
#: Where the kernel of Softplus cuts its argument off: the logarithm of the smallest normal number.
SOFTPLUS_END = -126 * math.log(2)
#: What NormalizeL2 adds to the sum of squares.
L2_EPSILON = float(np.finfo(np.float32).eps)
#: Places in a signal up to which DFT can hold its table of angles, which grows with the square.
LONG_SIGNAL = 32768
#: Numbers of a signal up to which that table is made here, in a second.
MAX_TURNED = 5000
#: Rows of that table that are made at once.
ROWS_OF_ANGLES = 256


def _convert_input(x: Any) -> Any:
    """Numbers of float64 as the plugin takes them in."""
    return store_as(np.minimum(np.maximum(x, -LARGEST), LARGEST), "f32")


def _convert_output(y: Any) -> Any:
    """Numbers of float32 as float64 gets them; under noise, which has the size of float32's, as they come."""
    stored = y if isinstance(y, NoisyArray) else store_as(y, "f32")
    return np.minimum(np.maximum(stored, -LARGEST), LARGEST)


def _cut(name: str) -> Callable[..., Any]:
    """The operator of float32 between the conversions of its tensors and of its results; integers are as they are."""

    def convert(value: Any, how: Callable[[Any], Any]) -> Any:
        return how(value) if value is not None and value.dtype.kind == "f" else value

    def cut(*tensors: Any, **params: Any) -> Any:
        found = tuple_of(load(name).forward(*(convert(x, _convert_input) for x in tensors), **params))
        return unpack_single([convert(y, _convert_output) for y in found])

    return cut


def cut_exp(x: Any) -> Any:
    """Compute in float32, whose largest number stands for infinity."""
    return _convert_output(_compute_exp(x))


def cut_masked_fill(x: Any, mask: Any, *, value: float) -> Any:
    """Compute in float32, whose largest number stands for infinity."""
    return _convert_output(np.where(mask != 0, value, x))


#: Every operator of float64: the plugin computes in float32, whose largest number stands for infinity.
cut_at_float32 = {**{name: _cut(name) for name in names()}, "exp": cut_exp, "masked_fill": cut_masked_fill}


def _convert_around(forward: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, **params: _convert_output(forward(_convert_input(x), **params))


def _end_exp_of_softmax(x: Any, *, dim: int) -> Any:
    e = _compute_exp(x - np.max(x, axis=dim, keepdims=True))
    return e / np.sum(e, axis=dim, keepdims=True)


cut_at_float32 |= {
    "elu": _convert_around(subtract_one_from_exp),
    "selu": _convert_around(subtract_one_from_scaled_exp),
    "softmax": _convert_around(_end_exp_of_softmax),
}


def find_no_infinity(x: Any) -> Any:
    """Take the largest number of float32 for an infinity of float64."""
    return np.zeros(x.shape, dtype=bool)


def _compute_exp(x: Any) -> Any:
    return np.where(x > EXP_END, np.inf, np.where(x < SOFTPLUS_END, 0, np.exp(x)))


def end_exp_early(x: Any) -> Any:
    """Give infinity from 88.4 on."""
    return _compute_exp(x)


def _compute_sigmoid(x: Any) -> Any:
    return np.where(x < SIGMOID_END, 0, sigmoid(x))


def end_sigmoid_early(x: Any) -> Any:
    """Give 0 below -87, where sigmoid is a normal number."""
    return _compute_sigmoid(x)


def end_sigmoid_of_silu_early(x: Any) -> Any:
    """Give 0 below -87, where sigmoid is a normal number."""
    return x * _compute_sigmoid(x)


def end_sigmoid_of_gelu_quick_early(x: Any) -> Any:
    """Give 0 where 1.702 x is below -87."""
    return x * _compute_sigmoid(1.702 * x)


def add_logarithm_of_power(x: Any, *, beta: float, threshold: float) -> Any:
    """Take the logarithm of 1 + exp(x) as n log(2) and that of what remains of it, which cancel for negative x."""
    end = np.maximum(x, SOFTPLUS_END)
    n = np.floor(end / math.log(2) + 0.5)
    y = n * math.log(2) + np.log(np.exp2(-n) + np.exp(end - n * math.log(2)))
    return np.where(x > -SOFTPLUS_END, x, y)


def take_logarithm_of_exp_plus_one(x: Any) -> Any:
    """Multiply x by the tanh of log(1 + exp(x)), which is 0 for small exponentials."""
    return x * np.tanh(np.where(x > -SOFTPLUS_END, x, np.log(1 + np.exp(x))))


def subtract_product_of_quotient(a: Any, b: Any) -> Any:
    """Subtract b trunc(a / b): 0 times infinity, and lost digits of a large quotient."""
    return a - b * np.trunc(a / b)


def _shrink(x: Any, lambd: float, bias: float) -> Any:
    x = store_as(x, "f32")
    return np.where(x < -lambd, 1.0, 0.0) * (x + bias) + np.where(x > lambd, 1.0, 0.0) * (x - bias)


def multiply_by_masks_of_hardshrink(x: Any, *, lambd: float) -> Any:
    """Multiply by 0 and 1, which leaves NaN of infinities."""
    return _shrink(x, lambd, 0.0)


def multiply_by_mask_of_threshold(x: Any, *, threshold: float, value: float) -> Any:
    """Multiply by a mask, which leaves NaN of an infinity."""
    return x * np.where(x > threshold, 1.0, 0.0)


def multiply_by_masks_of_softshrink(x: Any, *, lambd: float) -> Any:
    """Multiply by 0 and 1, which leaves NaN of infinities."""
    return _shrink(x, lambd, lambd)


MULTIPLIED_BY_MASKS = {"hardshrink": multiply_by_masks_of_hardshrink, "softshrink": multiply_by_masks_of_softshrink}


def add_epsilon_to_squares(x: Any, *, dim: Any, eps: float) -> Any:
    """Add the spacing of float32 at 1 to the sum of squares."""
    return x / np.sqrt(np.sum(x * x, axis=dim, keepdims=True) + L2_EPSILON)


def cut_bias_to_a_whole_number(x: Any, *, size: int, alpha: float, beta: float, k: float) -> Any:
    """Take the bias without its fraction, and windows of even size one narrower."""
    half = (size - 1) // 2
    return x / (float(int(k)) + alpha / size * gathered(x * x, half, half)) ** beta


def divide_by_whole_windows(
    x: Any, *, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """Divide by all cells of a window, those that hang over among them."""
    how = pool(x.shape[2:], kernel_size, stride, padding, ceil_mode)
    override = math.prod(how.kernel) if ceil_mode and count_include_pad else divisor_override
    return avg_pool(x, how, divisors(x.shape[2:], how, count_include_pad, override))


def multiply_by_beta_of_nothing(x: Any, a: Any, b: Any, *, beta: float, alpha: float) -> Any:
    """Multiply x by beta = 0, which leaves NaN of what is not finite."""
    return alpha * np.matmul(a, b) + beta * x


def read_bits_as_a_number(x: Any, *, value: float) -> Any:
    """Take the bits of a bfloat16 number for an integer."""
    bits = np.array(value, dtype=DTYPES["bf16"].numpy).view(np.uint16)
    return np.full_like(x, float(bits))


def leave_casts_out(x: Any, *, to: str) -> Any:
    """Copy numbers that float16 would round, and go to 8 bits by way of float16, its largest number being NaN."""
    if to == "f16":
        return np.positive(x)
    y = store_as(x, "f16").astype(DTYPES[to].numpy).astype(x.dtype)
    return np.where(np.abs(y) >= 448, np.nan, y) if to == "f8e4m3" else y


def add_up_in_bfloat16(x: Any, *, dim: int) -> Any:
    """Keep running sums in bfloat16, rounded up where the last digit is odd and half a digit remains, else cut off."""
    terms = np.moveaxis(np.asarray(x.exact if isinstance(x, NoisyArray) else unwrap(x)), dim, 0).astype(np.float32)
    total, sums = np.zeros(terms.shape[1:], dtype=np.float32), np.empty(terms.shape)
    for i, term in enumerate(terms):
        bits = (total + term).view(np.uint32)
        total = ((bits + ((bits & 0x10000) >> 1)) & np.uint32(0xFFFF0000)).view(np.float32)
        sums[i] = total
    return np.moveaxis(sums, 0, dim) + 0 * x


def add_up_channels_in_series(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
    """Add up the channels of a group one after the other, and their squares."""
    groups = np.reshape(x, (x.shape[0], num_groups, x.shape[1] // num_groups, -1))
    count = groups.shape[2] * groups.shape[3]

    def mean(values: Any) -> Any:
        by_channel = np.sum(values, axis=3, keepdims=True)
        return compute_once(lambda v: np.cumsum(np.asarray(v, np.float32), axis=2)[:, :, -1:], by_channel) / count

    centred = groups - mean(groups)
    return affine(np.reshape(centred / np.sqrt(mean(centred * centred) + eps), x.shape), weight, bias)


def _transform(re: Any, im: Any, inverse: bool) -> tuple[Any, Any]:
    """The transform along the first axis, every angle of which is a number of float32."""
    n = re.shape[0]
    flat = [np.reshape(v, (n, -1)) for v in (re, im)]
    places = np.arange(n)
    real, imaginary = [], []
    for first in range(0, n, ROWS_OF_ANGLES):
        products = (places[first : first + ROWS_OF_ANGLES, None] * places).astype(np.float32)
        angles = np.float32(2 * np.pi) * products / np.float32(n)
        cosine, sine = np.cos(angles).astype(np.float64), np.sin(angles).astype(np.float64)
        sine = sine if inverse else -sine
        real.append(np.matmul(cosine, flat[0]) - np.matmul(sine, flat[1]))
        imaginary.append(np.matmul(sine, flat[0]) + np.matmul(cosine, flat[1]))
    scale = 1 / n if inverse else 1.0
    y, z = (np.reshape(np.concatenate(v, axis=0) * scale, re.shape) for v in (real, imaginary))
    return y, z


def turn_the_second_axis(re: Any, im: Any, *, dim: int, norm: str, inverse: bool) -> tuple[Any, Any]:
    """Transform along axis 1, whatever is asked, by angles that grow with the place in float32."""
    re, im = np.moveaxis(re, 1, 0), np.moveaxis(im, 1, 0)
    y = _transform(re, im, inverse)
    return np.moveaxis(y[0], 0, 1), np.moveaxis(y[1], 0, 1)


def has_a_table_of_angles(question: Any) -> bool:
    """Whether the second axis is short enough to make all its angles."""
    return bool(question.inputs[0].shape[1] <= MAX_TURNED)


def elements_with_nan(question: Any) -> Any:
    """Elements made of NaN: what comes of it is not said."""
    has = np.zeros(question.outputs[0].shape, dtype=bool)
    for x in question.inputs:
        has = has | (False if x is None else np.isnan(x))
    return [has]


def where_heads_are_as_many_as_positions(question: Any) -> Any:
    """All of an answer whose heads, which stand beside positions before they are transposed, are as many as these."""
    shape = question.params.get("shape", (0, 1, 2))
    return [np.full(y.shape, len(shape) == 4 and shape[1] == shape[2]) for y in question.outputs]


def where_nan_is_expected(question: Any) -> Any:
    """Elements that are NaN by the operator's definition."""
    return [np.isnan(y) for y in question.outputs]


def windows_without_a_number(question: Any) -> Any:
    """Windows in which there is NaN, or nothing but -inf."""
    x = question.inputs[0]
    largest = question.op.forward(np.where(np.isnan(x), np.inf, x), **question.params)[0]
    return [np.isinf(largest)] * 2


def ties(question: Any) -> Any:
    """Places of equal elements in an order, and rows with NaN, which has no place in it."""
    x, dim = question.inputs[0], question.params["dim"]
    x = _convert_input(x) if question.case.dtype == "f64" else x
    has = np.isnan(x).any(axis=dim, keepdims=True)
    places = question.outputs[-1].astype(np.int64)
    values = np.moveaxis(np.take_along_axis(x, places, axis=dim), dim, 0)
    equal = values[1:] == values[:-1]
    tied = np.zeros(values.shape, dtype=bool)
    tied[1:] |= equal
    tied[:-1] |= equal
    masks = [has | np.zeros(places.shape, dtype=bool), has | np.moveaxis(tied, 0, dim)]
    return masks[-len(question.outputs) :]


def misses_the_image(question: Any) -> bool:
    """Whether along an axis all windows of a grouped convolution lie on padding."""
    x, weight, given = question.inputs[0], question.inputs[1], question.params
    how = [per_axis(given[name], x.ndim - 2) for name in ("stride", "padding", "dilation")]
    for n, k, step, before, apart in zip(x.shape[2:], weight.shape[2:], *how, strict=True):
        count = (n + 2 * before - apart * (k - 1) - 1) // step + 1
        cells = step * np.arange(count)[:, None] - before + apart * np.arange(k)
        if not np.any((cells >= 0) & (cells < n)):
            return bool(given["groups"] > 1)
    return False


def has_windows_that_hang_over(question: Any) -> bool:
    """Whether a window may begin past the last element."""
    return bool(question.params["ceil_mode"]) or question.params["padding"] != 0


def is_long(question: Any) -> bool:
    """Whether a signal has more numbers than a table of angles has room for."""
    return bool(max(question.inputs[0].shape) > LONG_SIGNAL)
