"""What tinygrad's methods compute where they are known to fail, in the steps of its mixin/elementwise.py and op.py.

A function `compose_...` gives values; `differentiate_steps` differentiates the same steps one by one, as tinygrad
does. See known.toml.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from opproof.backends.causes import store_as
from opproof.backends.traced import (
    apply_step,
    cos,
    derivative_of,
    exp,
    half_exp,
    length_with_one,
    log,
    magnitude,
    mean,
    mean_square,
    relu,
    reshape_value,
    root,
    sigmoid,
    sign,
    sin,
    sum_over_axes,
    take_larger,
    value_of,
    where,
)
from opproof.reference_ops import scaled_dot_product_attention
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._axes import kept
from opproof.reference_ops._losses import reduced
from opproof.reference_ops._pool import avg_pool, avg_pool_vjp, divisors, pool

#: Abramowitz and Stegun 4.4.46, the highest power first.
ASIN_COEFFICIENTS = (
    -0.0012624911, 0.0066700901, -0.0170881256, 0.0308918810, -0.0501743046, 0.0889789874, -0.2145988016, 1.5707963050,
)  # fmt: skip
#: Abramowitz and Stegun 7.1.26, the highest power first, and its scale.
ERF_COEFFICIENTS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
ERF_SCALE = 0.3275911
#: Elements of an axis that scatter takes within the time of a case.
MAX_QUICKLY_SCATTERED = 1000


def _evaluate_polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    found: Any = coefficients[0]
    for c in coefficients[1:]:
        found = found * x + c
    return found


def compose_sinh(x: Any) -> Any:
    """Subtract exponentials, which cancel near 0, and halve them when they have overflowed."""
    return half_exp(x) - half_exp(-x)


def compose_cosh(x: Any) -> Any:
    """Add exponentials, and halve them when they have overflowed."""
    return half_exp(x) + half_exp(-x)


def compose_tanh(x: Any) -> Any:
    """Subtract 1 from twice the sigmoid of 2 x, which cancels near 0."""
    return 2.0 * sigmoid(2.0 * x) - 1.0


def compose_asin(x: Any) -> Any:
    """Subtract a fit of acos from pi / 2, which cancels near 0."""
    size = magnitude(x)
    return sign(x) * (math.pi / 2 - root(1.0 - size) * _evaluate_polynomial(size, ASIN_COEFFICIENTS))


def compose_acos(x: Any) -> Any:
    """Subtract the fit of asin from pi / 2."""
    return math.pi / 2 - compose_asin(x)


def compose_atan(x: Any) -> Any:
    """Evaluate asin at x / sqrt(1 + x^2), where x^2 overflows."""
    return compose_asin(x / length_with_one(x))


def compose_erf(x: Any) -> Any:
    """Evaluate erf as 1 - p(t) exp(-x^2), which cancels for small x."""
    t = 1.0 / (1.0 + ERF_SCALE * magnitude(x))
    return sign(x) * (1.0 - t * _evaluate_polynomial(t, ERF_COEFFICIENTS) * exp(-(x * x)))


def compose_gelu(x: Any, *, approximate: str) -> Any:
    """Multiply by the fit of erf, or by a tanh of exponentials."""
    if approximate == "tanh":
        return 0.5 * x * (1 + compose_tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))
    return x * (1.0 + compose_erf(x / math.sqrt(2))) * 0.5


def compose_softplus(x: Any, *, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """Add log(1 + exp(-|x|)), whose sum rounds to 1, to the larger of x and 0."""
    z = x * beta
    m = take_larger(z, 0.0)
    return (1 / beta) * (log(exp(z - m) + exp(0.0 - m)) + m)


def compose_logsigmoid(x: Any) -> Any:
    """Negate the softplus of -x."""
    return -compose_softplus(-x)


def compose_mish(x: Any) -> Any:
    """Multiply by the tanh of softplus."""
    return x * compose_tanh(compose_softplus(x))


def compose_relu6(x: Any) -> Any:
    """Subtract two relus, which cancel for large x and drop NaN."""
    return relu(x) - relu(x - 6)


def compose_hardswish(x: Any) -> Any:
    """Multiply by the difference of two relus."""
    return x * (compose_relu6(x + 3) * (1 / 6))


def compose_hardsigmoid(x: Any) -> Any:
    """Subtract two relus of x / 6."""
    scaled = 1 / 6 * x + 0.5
    return relu(scaled) - relu(scaled - 1)


def compose_elu(x: Any, *, alpha: float) -> Any:
    """Subtract 1 from the exponential, and differentiate both branches."""
    return relu(x) - alpha * relu(1 - exp(x))


def compose_celu(x: Any, *, alpha: float) -> Any:
    """Subtract 1 from the exponential, and differentiate both branches."""
    return take_larger(x, 0.0) - take_larger(-(alpha * (exp(x / alpha) - 1)), 0.0)


def compose_selu(x: Any) -> Any:
    """Multiply by constants of six digits, and differentiate both branches."""
    return 1.0507 * where(value_of(x) >= 0, x, 1.67326 * (exp(x) - 1))


def compose_silu(x: Any) -> Any:
    """Multiply x by the sigmoid, stored in the dtype, whose exponential overflows."""
    return x * sigmoid(x)


def compose_gelu_quick(x: Any) -> Any:
    """Multiply x by the sigmoid, stored in the dtype, whose exponential overflows."""
    scaled = apply_step(x, lambda v: value_of(sigmoid(1.702 * v)), lambda g, _, y: 1.702 * g * y * (1 - y))
    return x * scaled


def compose_rsqrt(x: Any) -> Any:
    """Take the reciprocal of the root, and its third power in the gradient."""
    return apply_step(x, lambda v: 1 / np.sqrt(v), lambda g, _, y: y * y * y * g * -0.5)


def multiply_by_reciprocal_of_gradient(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Multiply the gradient by the reciprocal, and by its square, stored in the dtype."""
    inverse = 1 / b
    return unbroadcast(g * inverse, a.shape), unbroadcast(-g * a * (inverse * inverse), b.shape)


def compose_softsign(x: Any) -> Any:
    """Divide x by 1 + |x|."""
    return x / (1 + magnitude(x))


def compose_tan(x: Any) -> Any:
    """Divide the sine by the sine of pi / 2 - x."""
    return sin(x) / cos(x)


def compose_var(x: Any, *, dim: Any, correction: int, keepdim: bool) -> Any:
    """Average squares stored in the dtype."""
    axes = _axes_of(x, dim)
    n = math.prod(x.shape[a] for a in axes)
    deviation = np.zeros(x.shape, like=value_of(x)) if n == 1 else x - mean(x, axes)  # folded
    found = sum_over_axes(deviation * deviation, axes, max(n - correction, 0))
    return found if keepdim else reshape_value(found, tuple(k for a, k in enumerate(x.shape) if a not in axes))


def compose_std(x: Any, *, dim: Any, correction: int, keepdim: bool) -> Any:
    """Average squares stored in the dtype."""
    return root(compose_var(x, dim=dim, correction=correction, keepdim=keepdim))


def compose_l2_norm(x: Any, *, dim: int, eps: float) -> Any:
    """Add up squares stored in the dtype."""
    squares = sum_over_axes(_square_of_magnitude(x), _axes_of(x, dim))
    return x / take_larger(_compute_half_power(squares), eps)


def _square_of_magnitude(x: Any) -> Any:
    return apply_step(magnitude(x), lambda v: v * v, lambda g, v, _: g * (2 * v))


def _compute_half_power(x: Any) -> Any:
    return apply_step(x, np.sqrt, lambda g, v, _: g * (0.5 * np.sqrt(1 / v)))


def _normalise(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    y = x - mean(x, axes)
    return y * compose_rsqrt(_in_float16(mean_square(y, axes)) + eps)


def _in_float16(x: Any) -> Any:
    return apply_step(x, lambda v: store_as(v, "f16"), lambda g, _, __: g)


def compose_layer_norm(x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: Any, eps: float) -> Any:
    """Average squares stored in the dtype."""
    ndim = x.ndim
    return _apply_affine(_normalise(x, tuple(range(ndim - len(normalized_shape), ndim)), eps), weight, bias)


def compose_group_norm(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
    """Average squares stored in the dtype."""
    shape = x.shape
    y = reshape_value(_normalise(reshape_value(x, (shape[0], num_groups, -1)), (2,), eps), shape)
    return _apply_affine(y, *(_by_channel(v, len(shape)) for v in (weight, bias)))


def compose_instance_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float) -> Any:
    """Average squares stored in the dtype."""
    return compose_group_norm(x, weight, bias, num_groups=x.shape[1], eps=eps)


def compose_batch_norm(
    x: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, *, training: bool, eps: float
) -> Any:
    """Average squares stored in the dtype."""
    shape = x.shape
    axes = (0, *range(2, len(shape)))
    average = mean(x, axes)
    y = x - value_of(average)  # variance is differentiated as if the mean stood still
    weight, bias = (_by_channel(v, len(shape)) for v in (weight, bias))
    centred = x - average
    scaled = centred if weight is None else centred * weight
    found = scaled * compose_rsqrt(_in_float16(mean_square(y, axes)) + eps)
    return found if bias is None else found + bias


def _apply_affine(x: Any, weight: Any, bias: Any) -> Any:
    scaled = x if weight is None else x * weight
    return scaled if bias is None else scaled + bias


def _by_channel(v: Any, ndim: int) -> Any:
    return None if v is None else reshape_value(v, (1, -1, *(1,) * (ndim - 2)))


def _axes_of(x: Any, dim: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if dim is None else tuple(int(d) % x.ndim for d in np.atleast_1d(dim))


def compose_exp(x: Any) -> Any:
    """Take 2 to the x / ln 2, a product that is rounded."""
    return exp(x)


def compose_sin(x: Any) -> Any:
    """Take the sine of x reduced by multiples of pi."""
    return sin(x)


def compose_cos(x: Any) -> Any:
    """Take the sine of pi / 2 - x, which rounds."""
    return cos(x)


def _halve_first(x: Any, *, approximate: str) -> Any:
    if approximate == "tanh":
        return compose_gelu(x, approximate=approximate)
    return x * (0.5 * (1.0 + compose_erf(x / math.sqrt(2))))


def differentiate_erf(g: Any, y: Any, x: Any) -> Any:
    """Multiply the cotangent by x, which may overflow, before exp(-x^2), which may be 0."""
    return _gradient_of_erf(g, x, ERF_SCALE, ERF_COEFFICIENTS)


def differentiate_erf_in_float16(g: Any, y: Any, x: Any) -> Any:
    """Do the same with coefficients stored in float16."""
    scale, *coefficients = (float(store_as(c, "f16")) for c in (ERF_SCALE, *ERF_COEFFICIENTS))
    return _gradient_of_erf(g, x, scale, tuple(coefficients))


def _gradient_of_erf(g: Any, x: Any, scale: float, coefficients: tuple[float, ...]) -> Any:
    def share(v: Any) -> Any:
        return 1.0 / (1.0 + scale * v)

    size, s = magnitude(x), sign(x)
    t, e = share(size), exp(-(x * x))
    of_t = derivative_of(lambda v: v * _evaluate_polynomial(v, coefficients))(-(g * s * e), None, t)
    return g * size * (t * _evaluate_polynomial(t, coefficients)) * e * 2 + derivative_of(share)(of_t, None, size) * s


def differentiate_tan_twice(g: Any, y: Any, x: Any) -> Any:
    """Multiply by the sine, and divide by the cosine, twice each: pi / 2 - (pi / 2 - x) is folded to x."""
    s, c = sin(x), cos(x)
    return g * s / c / c * s + c * (g / c)


#: By operator, the gradient that differentiates the steps of its composition one after the other.
differentiate_steps = {
    name.removeprefix("compose_"): derivative_of(function)
    for name, function in list(globals().items())
    if name.startswith("compose_")
} | {"gelu": derivative_of(_halve_first)}


def divide_product_by_element(g: Any, y: Any, x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Divide the product, stored in the dtype, by each element."""
    return kept(g, x, dim) * (kept(y, x, dim) / x)


def divide_products_by_element(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Divide each product, stored in the dtype, by each element, and add up what they give."""
    return np.flip(np.cumsum(np.flip(g * y, axis=dim), axis=dim), axis=dim) / x


def compare_with_largest(a: Any, b: Any) -> Any:
    """Take the second where it is larger, which NaN is not."""
    return np.where(a < b, b, a)


def negate_less(a: Any, b: Any) -> Any:
    """Say that a is not less than b, which is true of NaN."""
    return ~(a < b)


def negate_greater(a: Any, b: Any) -> Any:
    """Say that a is not greater than b, which is true of NaN."""
    return ~(a > b)


def sign_of_nan_is_one(x: Any) -> Any:
    """Ask whether x is 0, then whether it is below."""
    return np.where(x == 0, 0.0, np.where(x < 0, -1.0, 1.0))


def add_half_and_floor(x: Any) -> Any:
    """Add or subtract a half, which rounds itself from 2^23 on, before the floor or the ceiling."""
    half = np.trunc(x) / 2
    return np.where((x > 0) == (np.trunc(half) == half), np.ceil(x - 0.5), np.floor(x + 0.5))


def subtract_floored_multiple(a: Any, b: Any) -> Any:
    """Subtract the floor of a rounded quotient times b: 0 times infinity where b is infinite."""
    return a - np.floor(a / b) * b


def subtract_truncated_multiple(a: Any, b: Any) -> Any:
    """Subtract the whole part of a rounded quotient times b: 0 times infinity where b is infinite."""
    return a - np.trunc(a / b) * b


def power_of_magnitude(a: Any, b: Any = None, *, exponent: float | None = None) -> Any:
    """Take 2 to the b log2(|a|): NaN where that is 0 times infinity, and where a is negative and b no int32."""
    b = exponent if b is None else b
    found = np.exp2(b * np.log2(np.abs(a)))
    whole = (np.trunc(b) == b) & (np.abs(b) < 2**31)
    signed = np.where(whole, np.where(np.fmod(b, 2) != 0, -found, found), np.where(np.isneginf(a), found, np.nan))
    return np.where(b == 0, 1.0, np.where(a < 0, signed, found))


def multiply_stored_powers(g: Any, y: Any, a: Any, b: Any = None, *, exponent: float | None = None) -> Any:
    """Store b a^(b-1), and y log(a), before the cotangent multiplies them."""
    power: Any = exponent if b is None else b
    da = unbroadcast(g * np.where(np.equal(power, 0), power, power * np.power(a, power - 1)), a.shape)
    if b is None:
        return (da,)
    at_zero = np.where(b < 0, -np.inf, 0.0)
    return da, unbroadcast(g * np.where(a == 0, at_zero, y * np.log2(a) * math.log(2)), b.shape)


def keep_digits(x: Any, *, to: str) -> Any:
    """Cast there and back without rounding."""
    return x


def keep_digits_of_gradient(g: Any, y: Any, x: Any, *, to: str) -> Any:
    """Cast there and back without rounding."""
    return g


def roll_by_last_shift(x: Any, *, shifts: Any, dims: Any) -> Any:
    """Roll an axis that is named twice by its last shift."""
    last = dict(zip(dims, shifts, strict=True))
    return np.roll(x, tuple(last.values()), axis=tuple(last))


def roll_back_by_last_shift(g: Any, y: Any, x: Any, *, shifts: Any, dims: Any) -> Any:
    """Roll an axis that is named twice by its last shift."""
    return roll_by_last_shift(g, shifts=tuple(-s for s in shifts), dims=dims)


def multiply_ignored_by_zero(
    x: Any, target: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    """Multiply what is ignored by a weight of 0, which leaves NaN."""
    picked = np.take_along_axis(x, np.expand_dims(target, 1), axis=1).squeeze(1)
    used = (1.0 if weight is None else weight[target]) * (target != ignore_index)
    return reduced(-picked * used, reduction, np.sum(used))


def multiply_by_one_hot(
    x: Any, target: Any, weight: Any = None, *, label_smoothing: float = 0.0, reduction: str = "mean", **_: Any
) -> Any:
    """Multiply log-probabilities by a row of 0 and 1: 0 times minus infinity is NaN."""
    shifted = x - np.max(x, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    classes = np.reshape(np.arange(x.shape[1]), (-1, *(1,) * (x.ndim - 2)))
    hot = (1 - label_smoothing) * (np.expand_dims(target, 1) == classes) + label_smoothing / x.shape[1]
    return reduced(-np.sum(log_p * hot, axis=1), reduction)


def multiply_logs_of_both(
    x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str = "mean"
) -> Any:
    """Add up target log p and (1 - target) log(1 - p): 0 times infinity is NaN."""
    log_p, log_of_rest = (compose_logsigmoid(v) for v in (x, -x))
    loss = -((1.0 if pos_weight is None else pos_weight) * target * log_p + (1 - target) * log_of_rest)
    return reduced(loss, reduction)


def correct_bias_in_float32(
    param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any, *, lr: float, beta1: float = 0.9, beta2: float = 0.999,
    eps: float = 1e-8, weight_decay: float = 0.01, step: int = 1,
) -> Any:  # fmt: skip
    """Subtract powers of the betas from 1 in float32."""
    m = beta1 * exp_avg + (1 - beta1) * grad
    v = beta2 * exp_avg_sq + (1 - beta2) * (grad * grad)
    of_m, of_v = (float(np.float32(1) - np.float32(b**step)) for b in (beta1, beta2))
    return param - lr * (m / (of_m * (np.sqrt(v / of_v) + eps)) + weight_decay * param), m, v


def multiply_by_stored_share(x: Any, **params: Any) -> Any:
    """Multiply the sum of a window by 1 / n as float16 has it."""
    how, divisor = _windows_of(x, **params)
    return avg_pool(x, how, divisor)


def spread_stored_share(g: Any, y: Any, x: Any, **params: Any) -> Any:
    """Multiply the cotangent by 1 / n as float16 has it."""
    how, divisor = _windows_of(x, **params)
    return avg_pool_vjp(g, x, how, divisor)


def _windows_of(
    x: Any, *, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    how = pool(x.shape[2:], kernel_size, stride, padding, ceil_mode)
    return how, 1 / store_as(1 / divisors(x.shape[2:], how, count_include_pad, divisor_override), "f16")


def divide_by_rows_less_one(x: Any, *, size: tuple[int, int], align_corners: bool = False) -> Any:
    """Divide by the number of rows less one, which is 0."""
    return np.full((*x.shape[:2], *size), np.nan, like=x)


def differentiate_division_by_rows(
    g: Any, y: Any, x: Any, *, size: tuple[int, int], align_corners: bool = False
) -> Any:
    """Give NaN to the rows that are read, which are the first of each axis of one."""
    rows, columns = (np.arange(n) < (1 if out == 1 else n) for n, out in zip(x.shape[2:], size, strict=True))
    return np.where(rows[:, None] & columns, np.full(x.shape, np.nan, like=g), 0)


def spread_nan_of_rows_without_keys(
    g: Any, y: Any, query: Any, key: Any, value: Any, attn_mask: Any = None, keep: Any = None, *rest: Any, **params: Any
) -> Any:
    """Take the softmax of a row that is masked in full, NaN, to its query and to all keys and values of the head."""
    found = scaled_dot_product_attention.vjp(g, y, query, key, value, attn_mask, keep, *rest, **params)
    unseen = np.all(np.broadcast_to(keep == 0, (*query.shape[:-1], key.shape[-2])), axis=-1, keepdims=True)
    of_head = np.any(np.reshape(unseen, (*key.shape[:-2], -1)), axis=-1)[..., None, None]  # with its group of queries
    return *(np.where(m, np.nan, v) for m, v in zip((unseen, of_head, of_head), found[:3], strict=True)), *found[3:]


def rows_with_nan(question: Any) -> Any:
    """Results of a row, or of a window, in which there is a NaN: comparisons with it have no order."""
    x, params = question.inputs[0], question.params
    if "kernel_size" in params:
        fallen = np.broadcast_to(np.any(np.isnan(x), axis=tuple(range(2, x.ndim)), keepdims=True), x.shape)
        return [np.any(fallen) & _find_windows_with_nan(x, question, y) for y in question.outputs]
    found = np.any(np.isnan(x), axis=_axes_of(x, params.get("dim")), keepdims=True)
    return [
        np.broadcast_to(found, y.shape) if y.ndim == x.ndim else np.reshape(found, y.shape) for y in question.outputs
    ]


def _find_windows_with_nan(x: Any, question: Any, y: Any) -> Any:
    given = {
        k: v for k, v in question.params.items() if k in ("kernel_size", "stride", "padding", "ceil_mode", "dilation")
    }
    missing = np.where(np.isnan(x), 1.0, 0.0)
    marked = question.op.forward(missing, **given)
    return np.asarray(marked[0] if isinstance(marked, tuple) else marked) > 0


def divides_by_no_rows(question: Any) -> bool:
    """Whether corners are aligned on an axis of one element."""
    return bool(question.params.get("align_corners")) and 1 in question.params["size"]


def repeats_an_axis(question: Any) -> bool:
    """Whether an axis is named twice."""
    dims = np.atleast_1d(question.params["dims"])
    return len(set(dims.tolist())) < len(dims)


def has_no_axes(question: Any) -> bool:
    """Whether the first tensor is a number."""
    return bool(question.inputs[0].ndim == 0)


def has_several_axes(question: Any) -> bool:
    """Whether several axes are reduced."""
    return np.size(question.params["dim"]) > 1


def reduces_all(question: Any) -> bool:
    """Whether all axes are reduced."""
    return question.params["dim"] is None


def scatters_many(question: Any) -> bool:
    """Whether an axis has more elements than scatter takes within the time of a case."""
    return bool(max(question.inputs[0].shape) > MAX_QUICKLY_SCATTERED)
