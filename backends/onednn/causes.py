"""What oneDNN's kernels compute where they are known to fail: see known.toml.

Constants are those of src/cpu/x64/injectors/jit_uni_eltwise_injector.cpp (github.com/oneapi-src/oneDNN, Apache 2.0).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from opproof.backends.causes import compute_once, find_storage
from opproof.reference_ops._axes import Dim
from opproof.reference_ops._pool import max_pool, pool
from opproof.reference_ops._windows import Sizes

#: The largest numbers of float32 and its logarithm; what is above or below the latter is brought there.
MAX_FLOAT32 = float(np.finfo(np.float32).max)
MAX_EXPONENT = 88.72283935546875
MIN_EXPONENT = -87.3365478515625
#: Below this exp is 0: 2^(n - 1), n = -126, has an exponent of 0.
FLUSHED_EXPONENT = -125.5 * math.log(2)
#: The largest arguments of exp in mish, and in its derivative.
MAX_EXPONENT_OF_MISH = 44.36141586303711
MAX_EXPONENT_OF_SLOPE_OF_MISH = 22.180707931518555
#: The factor of gelu_quick.
QUICK = 1.702
#: Of gelu_tanh: the square root of 2 / pi, and the factor of the cube.
ROOT_TWO_OVER_PI = math.sqrt(2 / math.pi)
CUBE_FACTOR = 0.044715
#: exp(r) for r within log(2) / 2 of 0: coefficients of powers of r, from 0 on.
EXP_COEFFICIENTS = (1.0, 0.99999970, 0.49999151, 0.16667652, 0.041897822, 0.0082892906)
#: log(1 + t) for t in [-1/2, 0] within soft_relu: coefficients of powers of t, from 0 on.
SOFT_RELU_COEFFICIENTS = (
    -2.1e-08, 0.9999932, -0.50035626, 0.3262179, -0.32000539, -0.17784506, -1.3198822, -1.7648947, -1.5376909
)  # fmt: skip
#: log(1 + z) / z within log: coefficients of powers of z, from 0 on.
LOG_COEFFICIENTS = (1.0, -0.5, 0.333333343, -0.250035614, 0.199984118)


def _compute_exp(x: Any) -> Any:
    """2^n times a polynomial of the rest: 0 where the exponent of 2^(n - 1) is, infinite for NaN."""
    clipped = np.where(np.isnan(x), MAX_EXPONENT, np.clip(x, MIN_EXPONENT, MAX_EXPONENT))
    n = compute_once(lambda v: np.floor(v / math.log(2) + 0.5), clipped)
    rest = clipped - n * math.log(2)
    series: Any = EXP_COEFFICIENTS[-1]
    for c in reversed(EXP_COEFFICIENTS[:-1]):
        series = series * rest + c
    return np.where(x < FLUSHED_EXPONENT, 0, series * 2.0 ** (n - 1) * 2)


def _compute_logistic(x: Any) -> Any:
    e = _compute_exp(-np.abs(x))
    share = e / (1 + e)
    return np.where(x < 0, share, 1 - share)


@functools.cache
def _make_reciprocals() -> tuple[Any, Any]:
    """By the leading five digits of a mantissa a rounded reciprocal, and its logarithm less 127 log 2, in float32."""
    middle = 1 + (np.arange(32) + 0.5) / 32
    nearest = np.where(np.arange(32) < 16, np.rint(32 / middle) / 32, np.rint(32 / middle) / 16)
    logarithms = -np.log(nearest) - 127 * math.log(2)
    return nearest.astype(np.float32), logarithms.astype(np.float32)


def _float32(x: Any) -> Any:
    return np.float32(x).astype(np.float64)


def _log(x: Any, *, fused: bool = True) -> Any:
    """The logarithm from tables, in float32: what is near 88 in them has an error of 4e-6, of 8e-6 without FMA."""
    product = np.asarray if fused else _float32
    single = np.asarray(x, dtype=np.float32)
    bits = single.view(np.int32)
    place, exponent = (bits >> 18) & 31, bits >> 23
    upper = place >> 4
    mantissa = ((bits & 0x7FFFFF) | ((127 - upper) << 23)).view(np.float32).astype(np.float64)
    reciprocals, logarithms = _make_reciprocals()
    z = _float32(product(mantissa * reciprocals[place]) - 1)
    series = np.float32(LOG_COEFFICIENTS[-1]) + 0 * z
    for c in reversed(LOG_COEFFICIENTS[:-1]):
        series = _float32(product(series * z) + c)
    rest = _float32(product((exponent + upper) * float(np.float32(math.log(2)))) + logarithms[place])
    y = np.where(single == 1, 0, _float32(_float32(series * z) + rest))
    y = np.where(single == 0, -np.inf, np.where(single < 0, np.nan, y))
    return np.where(np.isnan(single) | (single == np.inf), single, y)


def look_up_logarithm(x: Any) -> Any:
    """Look up the logarithm of a mantissa beside 127 log 2, near which float32 has an error of 4e-6."""
    return compute_once(_log, x)


def look_up_logarithm_unfused(x: Any) -> Any:
    """Look up the logarithm of a mantissa beside 127 log 2 where there is no FMA: the product is rounded too."""
    return compute_once(functools.partial(_log, fused=False), x)


def _find_largest(x: Any, dim: int) -> Any:
    return np.max(np.where(np.isnan(x), -np.inf, x), axis=dim, keepdims=True)


def _log_softmax(x: Any, dim: int, log: Callable[[Any], Any] = look_up_logarithm) -> Any:
    moved = x - _find_largest(x, dim)
    return moved - log(np.sum(_compute_exp(moved), axis=dim, keepdims=True))


def subtract_looked_up_logarithm(x: Any, *, dim: int) -> Any:
    """Subtract a logarithm that is looked up; exp of NaN is infinite, and so is the sum."""
    return _log_softmax(x, dim)


def subtract_looked_up_logarithm_of_gradient(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Take exp of a y from which a logarithm was subtracted that is looked up."""
    return g - np.exp(_log_softmax(x, dim)) * np.sum(g, axis=dim, keepdims=True)


def subtract_unfused_logarithm(x: Any, *, dim: int) -> Any:
    """Subtract a logarithm that is looked up without FMA."""
    return _log_softmax(x, dim, look_up_logarithm_unfused)


def subtract_unfused_logarithm_of_gradient(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Take exp of a y from which a logarithm was subtracted that is looked up without FMA."""
    return g - np.exp(_log_softmax(x, dim, look_up_logarithm_unfused)) * np.sum(g, axis=dim, keepdims=True)


def divide_by_infinite_sum(x: Any, *, dim: int) -> Any:
    """Divide by a sum that exp of NaN makes infinite."""
    e = _compute_exp(x - _find_largest(x, dim))
    return e / np.sum(e, axis=dim, keepdims=True)


def _compute_soft_relu(x: Any) -> Any:
    """log(1 + e^x) as n log 2 + log(2^-n + e^r), the latter from its exponent and a polynomial."""
    clipped = np.where(np.isnan(x), MAX_EXPONENT, np.clip(x, MIN_EXPONENT, MAX_EXPONENT))
    n = compute_once(lambda v: np.floor(v / math.log(2) + 0.5), clipped)
    inside = (2.0 ** (1 - n) + 2 * np.exp(clipped - n * math.log(2))) / 2
    exponent = compute_once(lambda v: np.frexp(v)[1].astype(np.float64), inside)
    t = inside * 2.0**-exponent - 1
    series: Any = SOFT_RELU_COEFFICIENTS[-1]
    for c in reversed(SOFT_RELU_COEFFICIENTS[:-1]):
        series = series * t + c
    return np.where(x > MAX_EXPONENT, x, exponent * math.log(2) + series + n * math.log(2))


def add_logarithms(x: Any, *, beta: float, threshold: float) -> Any:
    """Add logarithms of 20 to one that is the result: an absolute error of 1e-6."""
    return _compute_soft_relu(beta * x) / beta


def add_logarithms_negated(x: Any) -> Any:
    """Add logarithms of 20 to one that is the result: an absolute error of 1e-6."""
    return -_compute_soft_relu(-x)


def flush_exp(x: Any) -> Any:
    """Give 0 below -86.99, and infinity for NaN."""
    return _compute_exp(x)


def multiply_flushed_exp(g: Any, y: Any, x: Any) -> Any:
    """Multiply by an exp that is 0 below -86.99."""
    return g * _compute_exp(x)


def multiply_flushed_sigmoid(x: Any) -> Any:
    """Multiply x by a sigmoid that is 0 below -86.99."""
    return x * _compute_logistic(x)


def multiply_flushed_sigmoid_quick(x: Any) -> Any:
    """Multiply x by a sigmoid that is 0 where 1.702 x is below -86.99."""
    return x * _compute_logistic(QUICK * x)


def _slope_of_swish(x: Any) -> Any:
    share = _compute_logistic(x)
    return share + share * (x - x * share)


def take_slope_of_flushed_silu(g: Any, y: Any, x: Any) -> Any:
    """Take the slope from a sigmoid that is 0 below -86.99."""
    return g * _slope_of_swish(x)


def take_slope_of_flushed_gelu_quick(g: Any, y: Any, x: Any) -> Any:
    """Take the slope from a sigmoid that is 0 where 1.702 x is below -86.99."""
    return g * _slope_of_swish(QUICK * x)


def take_slope_of_flushed_sigmoid(g: Any, y: Any, x: Any) -> Any:
    """Take the slope from a sigmoid that is 0 below -86.99."""
    share = _compute_logistic(x)
    return g * (share * (1 - share))


def multiply_flushed_sigmoid_of_softplus(g: Any, y: Any, x: Any, *, beta: float, threshold: float) -> Any:
    """Multiply by a sigmoid that is 0 below -86.99."""
    return g * _compute_logistic(beta * x)


def multiply_flushed_sigmoid_of_logsigmoid(g: Any, y: Any, x: Any) -> Any:
    """Multiply by a sigmoid that is 0 below -86.99."""
    return g * _compute_logistic(-x)


def square_one_plus_exp(x: Any) -> Any:
    """Subtract 1 from (1 + e^x)^2, which cancels."""
    square = np.square(_compute_exp(np.minimum(x, MAX_EXPONENT_OF_MISH)) + 1)
    return (square - 1) / (square + 1) * x


def divide_by_square_of_square(g: Any, y: Any, x: Any) -> Any:
    """Divide e^x times a polynomial of e^x, which overflow, by ((1 + e^x)^2 + 1)^2."""
    e = _compute_exp(np.minimum(x, MAX_EXPONENT_OF_SLOPE_OF_MISH))
    omega = e * e * e + 4 * (e * e) + 4 * (x + 1.5) * e + 4 * (x + 1)
    return g * (omega * e / np.square(np.square(e + 1) + 1))


def subtract_one_from_exp(x: Any, *, alpha: float) -> Any:
    """Subtract 1 from e^x, which cancels."""
    return np.where(x > 0, x, alpha * (_compute_exp(x) - 1))


def double_before_halving(x: Any, *, approximate: str) -> Any:
    """Multiply x by 1 + erf first, which overflows; the polynomial of infinity is NaN."""
    return np.where(np.isinf(x), np.nan, x * scipy.special.erfc(-x / math.sqrt(2)) / 2)


def cube_x(g: Any, y: Any, x: Any, *, approximate: str) -> Any:
    """Form x^3, which overflows, and take what is infinite from itself."""
    inner = ROOT_TWO_OVER_PI * x * (1 + CUBE_FACTOR * (x * x))
    slope = ROOT_TWO_OVER_PI * x * (1 + 3 * CUBE_FACTOR * (x * x))
    t = np.tanh(inner)
    return g * (((1 + t) + (1 + t) * (slope - slope * t)) / 2)


def replace_nan_by_one(x: Any) -> Any:
    """Take the minimum with 1 by an instruction that gives its second operand beside NaN."""
    return np.where(np.isnan(x), 1, np.clip(x / 6 + 0.5, 0, 1))


def _clip(x: Any, low: float | None, high: float | None) -> Any:
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    return np.where(np.isnan(x), low, np.clip(x, low, high))


def clip_nan(x: Any, *, min: float | None, max: float | None) -> Any:
    """Give the lower bound for NaN."""
    return _clip(x, min, max)


def clip_nan_of_hardtanh(x: Any, *, min_val: float, max_val: float) -> Any:
    """Give the lower bound for NaN."""
    return _clip(x, min_val, max_val)


def clip_nan_at_six(x: Any) -> Any:
    """Give the lower bound for NaN."""
    return _clip(x, 0, 6)


def give_second_unless_larger(a: Any, b: Any) -> Any:
    """Give the second operand where either is NaN."""
    return np.where(a > b, a, b)


def give_second_unless_smaller(a: Any, b: Any) -> Any:
    """Give the second operand where either is NaN."""
    return np.where(a < b, a, b)


def is_not_less(a: Any, b: Any) -> Any:
    """Ask whether a < b does not hold."""
    return np.logical_not(a < b)


def is_not_less_or_equal(a: Any, b: Any) -> Any:
    """Ask whether a <= b does not hold."""
    return np.logical_not(a <= b)


def start_at_lowest(x: Any, *, dim: Dim, keepdim: bool) -> Any:
    """Take the maximum from -3.4e38 on."""
    return np.maximum(np.max(x, axis=dim, keepdims=keepdim, initial=-np.inf), -MAX_FLOAT32)


def start_at_largest(x: Any, *, dim: Dim, keepdim: bool) -> Any:
    """Take the minimum from 3.4e38 on."""
    return np.minimum(np.min(x, axis=dim, keepdims=keepdim, initial=np.inf), MAX_FLOAT32)


def pass_over_nan_in_windows(
    x: Any, *, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Any, Any]:
    """Take the maximum from -3.4e38 on, NaN never; where nothing is larger the first cell is named, of padding too."""
    size = x.shape[2:]
    how = pool(size, kernel_size, stride, padding, ceil_mode, dilation)
    y, indices = max_pool(np.where(np.isnan(x), -np.inf, x), how)
    first: Any = 0
    for a, n in enumerate(size):
        start = how.stride[a] * np.arange(how.out[a]) - how.padding[a]
        first = first * n + np.reshape(start, (-1, *(1,) * (len(size) - 1 - a)))
    return np.maximum(y, -MAX_FLOAT32), np.where(y == -np.inf, first, indices)


def multiply_what_is_not_taken(x: Any, weight: Any) -> Any:
    """Add the weight times 0 where x is positive: NaN where the weight is infinite."""
    slope = np.reshape(weight, (-1,) + (1,) * (x.ndim - 2) if x.ndim > 1 else (-1,) * x.ndim)
    return np.maximum(x, 0) + slope * np.minimum(x, 0)


def where_memory_order_differs(question: Any) -> Any:
    """Elements that differ where tensors are read in the order of memory, and the result is not."""
    from_axis = 1 if question.case.layout == "planes" else -2
    a, b = (np.moveaxis(v, -1, from_axis).reshape(v.shape) for v in question.inputs)
    return [question.op.forward(a, b) != y for y in question.outputs]


def are_both_stored_inside_out(question: Any) -> bool:
    """Whether the last axis of both tensors is stored before the one or two axes inside."""
    return question.case.layout in ("transposed", "planes")


def rows_after_the_first(question: Any) -> Any:
    """Rows past the first, which are read from where others lie, and what is summed over them."""
    x, rank = question.inputs[0], len(question.params["normalized_shape"])
    rows = np.arange(math.prod(x.shape[: x.ndim - rank])).reshape(*x.shape[: x.ndim - rank], *(1,) * rank)
    of_x = np.broadcast_to(rows > 0, x.shape)
    return [of_x, *(None if v is None else np.ones(v.shape, dtype=bool) for v in question.inputs[1:])]


def has_rows_apart(question: Any) -> bool:
    """Whether rows have gaps between them, or stand in another order."""
    x = question.inputs[0]
    *outer, last = find_storage(question, question.names[0]).strides
    lie = [step for n, step in zip(x.shape, outer, strict=False) if n > 1]
    row_major = [math.prod(x.shape[i + 1 :]) for i, n in enumerate(x.shape[:-1]) if n > 1]
    return (x.shape[-1] == 1 or last == 1) and lie != row_major


def has_weight_with_gaps(question: Any) -> bool:
    """Whether the elements of the weight have gaps between them."""
    return any(name in question.case.layout for name in ("weight:sliced", "weight:gapped"))


def exclude_bounds(g: Any, y: Any, x: Any, *, min: float | None, max: float | None) -> Any:
    """Give no gradient at a bound, also at one that is infinite because it was left out."""
    low, high = -np.inf if min is None else min, np.inf if max is None else max
    return np.where((x > low) & (x < high), g, 0)


def has_one_channel_outside(question: Any) -> bool:
    """Whether the stride of an only channel is larger than that of the images, which share the second operand."""
    a, b = question.inputs[:2]
    if a.ndim < 3 or a.shape[1] != 1 or a.shape[0] == 1 or (b.ndim == a.ndim and b.shape[0] != 1):
        return False
    strides = find_storage(question, question.names[0]).strides
    return bool(strides[1] > strides[0])
