"""What MLX's operators compute on the CPU where they are known to fail: see known.toml."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from opproof.backends.causes import store_as
from opproof.reference_ops import addmm, load
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._axes import Dim, count, kept
from opproof.reference_ops._losses import each
from opproof.reference_ops._norm import per_channel
from opproof.reference_ops._resize import matrix, resize
from opproof.reference_ops._windows import per_axis

#: MLX's exp is infinite above it, in float64 too.
MAX_EXPONENT = 88.0
#: And 0 below it, where the nearest power of two is 2^-127, which float32 has as a subnormal number alone.
MIN_EXPONENT = -126.5 * math.log(2)
#: Below it float32 is subnormal, and log1p gives 0.
LEAST_NORMAL = 2.0**-126
#: Stands for the logarithm of 0.
LEAST_LOGARITHM = -65504.0
#: The constants of MLX's selu.
SELU_ALPHA = 1.67326
SELU_SCALE = 1.0507
GELU_QUICK_SCALE = 1.702


def _compute_exp(x: Any) -> Any:
    return np.where(x > MAX_EXPONENT, np.inf, np.where(x < MIN_EXPONENT, 0, np.exp(x)))


def _make_constant(value: float, x: Any) -> Any:
    """The number in the arithmetic of x, rounded where that is."""
    return np.ones((1,), like=x) * value


def _compute_sigmoid(x: Any) -> Any:
    y = 1 / (1 + _compute_exp(np.abs(x)))
    return np.where(x < 0, y, 1 - y)


def _compute_softplus(x: Any) -> Any:
    e = _compute_exp(-np.abs(x))
    return np.maximum(x, 0) + np.where(e < LEAST_NORMAL, 0, np.log1p(e))


def end_exp_early(x: Any) -> Any:
    """Return infinity above 88 and 0 below -88."""
    return _compute_exp(x)


def round_factors_of_product_of_gradient(g: Any, y: Any, x: Any, a: Any, b: Any, *, beta: float, alpha: float) -> Any:
    """Take both factors as float32 has them."""
    return addmm.vjp(g, y, x, a, b, beta=float(np.float32(beta)), alpha=float(np.float32(alpha)))


def subtract_mean_of_slopes(g: Any, y: Any, x: Any, *, dim: Dim, correction: int, keepdim: bool) -> Any:
    """Subtract the mean, which may be infinite, from x and again from the slopes: an infinity less itself."""
    mean = np.mean(x, axis=dim, keepdims=True)
    slope = kept(g, x, dim) / max(count(x, dim) - correction, 0) * (2 * (x - mean))
    return slope - np.mean(slope, axis=dim, keepdims=True)


def _round_argument(name: str) -> Callable[..., Any]:
    op = load(name)
    return lambda x: op.forward(store_as(x, "f32"))


def _round_argument_of_gradient(name: str) -> Callable[..., Any]:
    op = load(name)
    assert op.vjp is not None
    vjp = op.vjp
    return lambda g, y, x: vjp(g, op.forward(store_as(x, "f32")), store_as(x, "f32"))


#: Functions of float64 that are those of float32, of an argument rounded to it.
round_argument = {name: _round_argument(name) for name in ("cos", "erfinv", "sin", "tan")}
round_argument_of_gradient = {name: _round_argument_of_gradient(name) for name in ("cos", "sin", "tan")}


def has_one_channel(question: Any) -> bool:
    """Whether a convolution of each channel is one of all."""
    return bool(question.inputs[0].shape[1] == 1)


def end_exp_of_softmax_early(x: Any, *, dim: int) -> Any:
    """Make the smallest weights 0: the exponential is 0 below -88."""
    e = _compute_exp(x - np.max(x, axis=dim, keepdims=True))
    return e / np.sum(e, axis=dim, keepdims=True)


def end_exp_of_softmax_early_of_gradient(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """The gradient of `end_exp_of_softmax_early`."""
    y = end_exp_of_softmax_early(x, dim=dim)
    return y * (g - np.sum(g * y, axis=dim, keepdims=True))


def end_exp_early_of_gradient(g: Any, y: Any, x: Any) -> Any:
    """Multiply by the exp that ends at 88."""
    return g * _compute_exp(x)


def subtract_from_one(x: Any) -> Any:
    """Evaluate sigmoid as 1 - 1 / (1 + exp(x)) for positive x, by an exp that ends at 88."""
    return _compute_sigmoid(x)


def subtract_from_one_of_gradient(g: Any, y: Any, x: Any) -> Any:
    """The gradient y (1 - y) of `subtract_from_one`."""
    s = _compute_sigmoid(x)
    return g * (s * (1 - s))


def negate_softplus(x: Any) -> Any:
    """Evaluate log sigmoid by an exp that ends at 88."""
    return -_compute_softplus(-x)


def negate_softplus_of_gradient(g: Any, y: Any, x: Any) -> Any:
    """The gradient of `negate_softplus`."""
    return g * _compute_sigmoid(-x)


def multiply_by_sigmoid(x: Any) -> Any:
    """Evaluate x sigmoid(x), whose exponential overflows."""
    return x * _compute_sigmoid(x)


def multiply_by_sigmoid_of_gradient(g: Any, y: Any, x: Any) -> Any:
    """Multiply g x, which may be infinite, by the slope of sigmoid."""
    s = _compute_sigmoid(x)
    return g * s + (g * x) * (s * (1 - s))


def multiply_by_steep_sigmoid(x: Any) -> Any:
    """Evaluate x sigmoid(1.702 x), whose exponential overflows."""
    return x * _compute_sigmoid(GELU_QUICK_SCALE * x)


def multiply_by_steep_sigmoid_of_gradient(g: Any, y: Any, x: Any) -> Any:
    """Multiply g x, which may be infinite, by the slope of sigmoid."""
    s = _compute_sigmoid(GELU_QUICK_SCALE * x)
    return g * s + (g * x) * (s * (1 - s)) * GELU_QUICK_SCALE


def multiply_by_tanh_of_softplus(x: Any) -> Any:
    """Evaluate x tanh(log(1 + exp(x))) by an exp that ends at 88."""
    return x * np.tanh(_compute_softplus(x))


def multiply_by_tanh_of_softplus_of_gradient(g: Any, y: Any, x: Any) -> Any:
    """Divide g x, which may be infinite, by the square of a cosh, and multiply by sigmoid, which may be 0."""
    rest = _compute_softplus(x)
    return g * np.tanh(rest) + (g * x) / np.square(np.cosh(rest)) * _compute_sigmoid(x)


def subtract_one_of_elu(x: Any, *, alpha: float) -> Any:
    """Evaluate exp(x) - 1, which cancels near 0."""
    return np.where(x > 0, x, _make_constant(alpha, x) * (_compute_exp(x) - 1))


def subtract_one_of_elu_of_gradient(g: Any, y: Any, x: Any, *, alpha: float) -> Any:
    """Differentiate both branches: 0 times an exp that has overflowed."""
    return np.where(x > 0, g, 0) + np.where(x > 0, 0, g) * _make_constant(alpha, x) * _compute_exp(x)


def subtract_one_of_selu(x: Any) -> Any:
    """Evaluate exp(x) - 1, which cancels near 0, with rounded constants."""
    return subtract_one_of_elu(x, alpha=SELU_ALPHA) * _make_constant(SELU_SCALE, x)


def subtract_one_of_selu_of_gradient(g: Any, y: Any, x: Any) -> Any:
    """Differentiate both branches: 0 times an exp that has overflowed."""
    return subtract_one_of_elu_of_gradient(g * _make_constant(SELU_SCALE, x), y, x, alpha=SELU_ALPHA)


def subtract_one_of_celu(x: Any, *, alpha: float) -> Any:
    """Evaluate exp(x / alpha) - 1, which cancels near 0."""
    a = _make_constant(alpha, x)
    return np.maximum(x, 0) + a * (_compute_exp(np.minimum(x, 0) / a) - 1)


def subtract_one_of_celu_of_gradient(g: Any, y: Any, x: Any, *, alpha: float) -> Any:
    """Differentiate the larger and the smaller of x and 0: none at 0, with alpha rounded."""
    a = _make_constant(alpha, x)
    slope = np.where(x > 0, 0, g * a * _compute_exp(np.minimum(x, 0) / a) / a)
    return np.where(x > 0, g, 0) + np.where(x < 0, slope, 0)


def _reshape_per_channel(weight: Any, x: Any) -> Any:
    return per_channel(weight, x.ndim) if x.ndim > 1 else np.reshape(weight, ())


def add_both_sides(x: Any, weight: Any) -> Any:
    """Add the positive part and the weighted negative part: an infinite weight times 0."""
    return np.maximum(0, x) + _reshape_per_channel(weight, x) * np.minimum(0, x)


def add_both_sides_of_gradient(g: Any, y: Any, x: Any, weight: Any) -> tuple[Any, Any]:
    """Take both one-sided gradients at 0."""
    w = _reshape_per_channel(weight, x)
    dx = np.where(x >= 0, g, 0) + np.where(x <= 0, g * w, 0)
    return dx, load("prelu").vjp(g, y, x, weight)[1]  # type: ignore[misc]


def compare_before_shrinking_hard(x: Any, *, lambd: float) -> Any:
    """Give 0 where |x| > lambd does not hold, as for NaN."""
    return np.where(np.abs(x) > lambd, x, 0)


def compare_before_shrinking_soft(x: Any, *, lambd: float) -> Any:
    """Give 0 where |x| > lambd does not hold, as for NaN."""
    return np.where(np.abs(x) > lambd, x - np.sign(x) * lambd, 0)


def take_second_of_equals(g: Any, y: Any, x: Any, *, negative_slope: float) -> Any:
    """Hand the gradient to x where it is not the smaller, as of -inf; 0 times infinity is NaN, which is not less."""
    return np.where(negative_slope * x <= x, g, negative_slope * g)


def take_larger(x: Any, *, negative_slope: float) -> Any:
    """Take the larger of x and slope x, which is NaN at infinity where the slope is 0."""
    return np.maximum(negative_slope * x, x)


def multiply_by_floor_of_rounded_quotient(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Multiply by the floor of a quotient that is rounded first: one too many where it is just below an integer."""
    return unbroadcast(g, a.shape), unbroadcast(-g * np.floor(a / b), b.shape)


def double_by_erf(x: Any, *, approximate: str) -> Any:
    """Form x (1 + erf), which is 2 x, before it is halved."""
    return x * (1 + scipy.special.erf(x / np.sqrt(2))) / 2


def multiply_by_bell(g: Any, y: Any, x: Any) -> Any:
    """Multiply by an exp that is 0 below -88."""
    return 2 / np.sqrt(np.pi) * g * _compute_exp(-(x * x))


def divide_by_square(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Divide g a by b^2, which overflows."""
    return unbroadcast(g / b, a.shape), unbroadcast(-(g * a / (b * b)), b.shape)


def divide_by_square_of_reciprocal(g: Any, y: Any, x: Any) -> Any:
    """Divide g by x^2, which overflows or is subnormal."""
    return -(g / (x * x))


def subtract_sigmoid(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Give the second operand 1 - sigmoid(a - b), which cancels."""
    s = _compute_sigmoid(a - b)
    return unbroadcast(g * s, a.shape), unbroadcast(g * (1 - s), b.shape)


def subtract_sigmoid_of_logits(
    g: Any, y: Any, x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str
) -> Any:
    """Form (1 - sigmoid(-x)) - target, whose difference cancels."""
    rest = load("bce_with_logits").vjp(g, y, x, target, weight, pos_weight, reduction=reduction)  # type: ignore[misc]
    along = each(g, reduction, x.size) * (1 if weight is None else weight)
    return along * (1 - _compute_sigmoid(-x)) - along * target, *rest[1:]


def subtract_linear_part(g: Any, y: Any, x: Any, target: Any, *, delta: float, reduction: str) -> tuple[Any, Any]:
    """Add g delta, and subtract it again below delta."""
    d, along = x - target, each(g, reduction, x.size)
    size, linear = np.abs(d), along * delta
    dx = np.where(size < delta, (along * size - linear) + linear, linear) * np.sign(d)
    return dx, -dx


def divide_by_beta_of_zero(g: Any, y: Any, x: Any, target: Any, *, beta: float, reduction: str) -> tuple[Any, Any]:
    """Differentiate both branches, of which one divides by beta: 0 / 0."""
    dx, dtarget = load("smooth_l1_loss").vjp(g, y, x, target, beta=beta, reduction=reduction)  # type: ignore[misc]
    return (dx * np.nan, dtarget * np.nan) if beta == 0 else (dx, dtarget)


def add_up_steps(*, start: float, end: float, step: float) -> Any:
    """Add the step to the last number in float32."""
    count = int(np.ceil((end - start) / step))
    terms = np.full(count, step, dtype=np.float32)
    terms[:1] = start
    return np.add.accumulate(terms)


def store_corrections(
    param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any, *, lr: float, beta1: float, beta2: float, eps: float,
    weight_decay: float, step: int,
) -> Any:  # fmt: skip
    """Compute 1 - beta^step, and all that has the learning rate, in float32."""
    first, second = (
        store_as(1 - store_as(store_as(np.asarray(b), "f32") ** step, "f32"), "f32") for b in (beta1, beta2)
    )
    rate = store_as(np.asarray(lr), "f32")
    m = beta1 * exp_avg + (1 - beta1) * grad
    v = beta2 * exp_avg_sq + (1 - beta2) * (grad * grad)
    c1, c2 = store_as(rate / first, "f32"), store_as(1 / np.sqrt(second), "f32")
    return param * (1 - rate * weight_decay) - c1 * m / (np.sqrt(v) * c2 + eps), m, v


def _make_weights(n: int, out: int, align_corners: bool, like: Any) -> Any:
    cells = np.arange(out, dtype=np.float32)
    scale = float(out) / n
    if align_corners:
        place = cells * np.float32((n - 1) / max(out - 1, 1))
    else:
        step = 1 / scale
        place = cells * np.float32(step) - np.float32(((out - 1) * step - n + 1) / 2)
    left, right = np.floor(place), np.floor(place + np.float32(1))
    taps = [(left, _weight_of_near), (right, _weight_of_near), (left - 1, _weight_of_far), (right + 1, _weight_of_far)]
    ones = np.ones(out, like=like)
    return matrix([(c.astype(np.int64), weigh(ones * np.abs(place - c).astype(np.float64))) for c, weigh in taps], n)


def _weight_of_near(t: Any) -> Any:
    return (1.25 * t - 2.25) * t * t + 1


def _weight_of_far(t: Any) -> Any:
    return (((t - 5) * t + 8) * t - 4) * -0.75


def lose_a_tap(x: Any, *, size: tuple[int, int], align_corners: bool) -> Any:
    """Take the floor of a place and of the place + 1 in float32: just below an integer they are 2 apart."""
    return resize(x, *(_make_weights(n, out, align_corners, x) for n, out in zip(x.shape[2:], size, strict=True)))


def lose_a_tap_of_gradient(g: Any, y: Any, x: Any, *, size: tuple[int, int], align_corners: bool) -> Any:
    """The transpose of `lose_a_tap`."""
    weights = (_make_weights(n, out, align_corners, g) for n, out in zip(x.shape[2:], size, strict=True))
    return resize(g, *(np.swapaxes(w, 0, 1) for w in weights))


def multiply_weighted_cotangent(g: Any, y: Any, x: Any, weight: Any = None, *, eps: float) -> Any:
    """Store g weight in float16, where it overflows, and differentiate the rest in float32, step by step."""
    square = np.mean(x * x, axis=-1, keepdims=True) + eps
    scale = 1 / np.sqrt(square)
    h = g if weight is None else store_as(g * weight, "f16")
    slope = np.sum(h * x, axis=-1, keepdims=True) * (-0.5 * (scale / square)) / x.shape[-1]
    dweight = None if weight is None else np.sum(g * (x * scale), axis=tuple(range(x.ndim - 1)))
    return h * scale + x * (2 * slope), dweight


def multiply_stored_products(g: Any, y: Any, x: Any, *, dim: Any, keepdim: bool) -> Any:
    """Store the product of the other elements before the cotangent multiplies it."""
    rows = x if dim is None else np.moveaxis(x, dim, -1)
    flat = np.reshape(rows, (-1,)) if dim is None else rows
    ones = np.ones((*flat.shape[:-1], 1), like=x)
    before = np.cumprod(np.concatenate([ones, flat[..., :-1]], axis=-1), axis=-1)
    behind = np.flip(np.cumprod(np.concatenate([ones, np.flip(flat, -1)[..., :-1]], axis=-1), axis=-1), -1)
    along = np.reshape(g, (1,)) if dim is None else np.reshape(g, (*flat.shape[:-1], 1))
    found = before * behind * along
    return np.reshape(found, x.shape) if dim is None else np.moveaxis(found, -1, dim)


def divide_stored_products(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Divide sums of g and the products, stored in the dtype, by each element."""
    plain = load("cumprod").vjp(g, y, x, dim=dim)  # type: ignore[misc]
    sums = np.flip(np.cumsum(np.flip(g * y, axis=dim), axis=dim), axis=dim)
    zero = np.asarray(np.any(np.asarray(y == 0), axis=dim, keepdims=True))
    return np.where(zero & (np.asarray(x == 0) | np.asarray(y == 0)), plain, sums / x)


def _scan_whole(x: Any) -> Any:
    return np.logaddexp.accumulate(x, axis=0)


def _scan_in_turn(x: Any) -> Any:
    found = np.zeros(x.shape, like=x)
    total = found[0] = x[0]
    for k in range(1, len(x)):
        total = found[k] = np.logaddexp(total, x[k])
    return found


def _difference_of_scans(g: Any, x: Any, dim: int, scan: Any) -> Any:
    """exp(log of the sum of g / exp(y) that is behind + x), of positive g less that of negative g."""
    rows, along = np.moveaxis(x, dim, 0), np.moveaxis(g, dim, 0)
    size = np.log(np.abs(np.where(along == 0, 1, along))) - scan(rows)

    def behind(taken: Any) -> Any:
        return np.exp(np.flip(scan(np.flip(np.where(taken, size, LEAST_LOGARITHM), axis=0)), axis=0) + rows)

    return np.moveaxis(behind(along > 0) - behind(along < 0), 0, dim)


def subtract_logarithmic_scans(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Add up the positive and the negative cotangents as logarithms, and take one sum from the other."""
    return _difference_of_scans(g, x, dim, _scan_whole)


def subtract_rounded_scans(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """The same with every sum so far rounded, those of the forward pass too."""
    return _difference_of_scans(g, x, dim, _scan_in_turn)


def pads_more_than_it_cuts(question: Any) -> bool:
    """Whether output_padding is larger than padding on an axis."""
    rank = question.inputs[0].ndim - 2
    padding, more = (per_axis(question.params[k], rank) for k in ("padding", "output_padding"))
    return any(m > p for p, m in zip(padding, more, strict=True))


def cuts_the_input(question: Any) -> bool:
    """Whether padding is larger than dilation (kernel - 1) on an axis."""
    rank = question.inputs[0].ndim - 2
    padding, dilation = (per_axis(question.params[k], rank) for k in ("padding", "dilation"))
    kernel = question.inputs[1].shape[2:]
    return any(p > d * (k - 1) for p, d, k in zip(padding, dilation, kernel, strict=True))
