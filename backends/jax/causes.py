"""What JAX's operators compute on the CPU where they are known to fail: see known.toml."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from opproof.backends.causes import differentiate_standardisation, store_as
from opproof.reference_ops import _codes as codes
from opproof.reference_ops import load
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._axes import Dim, count, kept
from opproof.reference_ops._windows import per_axis

#: The rational function of Cephes' log1p, valid from 1 / sqrt(2) - 1 to sqrt(2) - 1; XLA takes it below that too.
LOG1P_NUMERATOR = (
    4.5270000862445199635215e-5,
    4.9854102823193375972212e-1,
    6.5787325942061044846969,
    2.9911919328553073277375e1,
    6.0949667980987787057556e1,
    5.7112963590585538103336e1,
    2.0039553499201281259648e1,
)
LOG1P_DENOMINATOR = (
    1.0,
    1.5062909083469192043167e1,
    8.3047565967967209469434e1,
    2.2176239823732856465394e2,
    3.0909872225312059774938e2,
    2.1642788614495947685003e2,
    6.0118660497603843919306e1,
)
#: Below it float16 is subnormal, which XLA's code for gradients takes for 0.
LEAST_NORMAL_OF_FLOAT16 = 2.0**-14
#: Below it float32, and bfloat16, are subnormal: XLA's code takes that for 0.
LEAST_NORMAL_OF_FLOAT32 = 2.0**-126
#: Channels from which the gradient of a depthwise convolution needs gigabytes.
MANY_CHANNELS = 4096


def _evaluate_polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    total = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


def extend_rational_function(x: Any) -> Any:
    """Take Cephes' rational function of log1p where it is no longer meant to hold."""
    square = x * x
    quotient = _evaluate_polynomial(LOG1P_NUMERATOR, x) / _evaluate_polynomial(LOG1P_DENOMINATOR, x)
    small = x + (-0.5 * square + x * (square * quotient))
    return np.where(np.abs(x) < math.sqrt(2) - 1, small, np.log(1 + x))


def exponentiate_rounded_product(x: Any) -> Any:
    """Evaluate 2^x as exp(x ln 2)."""
    return np.exp(x * math.log(2))


def exponentiate_rounded_product_of_gradient(g: Any, y: Any, x: Any) -> Any:
    """The gradient of `exponentiate_rounded_product`."""
    return math.log(2) * (g * np.exp(x * math.log(2)))


def _compute_halves(x: Any) -> tuple[Any, Any]:
    return np.exp(x + math.log(0.5)), np.exp(math.log(0.5) - x)


def add_log_of_half_of_sinh(x: Any) -> Any:
    """Evaluate sinh(x) as exp(x + log(1/2)) - exp(-x + log(1/2)) away from 0, the exponents rounded."""
    up, down = _compute_halves(x)
    return np.where(np.abs(x) < 1, np.sinh(np.clip(x, -1, 1)), up - down)


def add_log_of_half_of_cosh(x: Any) -> Any:
    """Evaluate cosh(x) as exp(x + log(1/2)) + exp(-x + log(1/2)), the exponents rounded."""
    up, down = _compute_halves(x)
    return up + down


def multiply_by_sinh(g: Any, y: Any, x: Any) -> Any:
    """Multiply the cotangent by a sinh with rounded exponents, which has overflowed."""
    return g * add_log_of_half_of_sinh(x)


def multiply_by_cosh(g: Any, y: Any, x: Any) -> Any:
    """Multiply the cotangent by a cosh with rounded exponents, which has overflowed."""
    return g * add_log_of_half_of_cosh(x)


def _fill_nan_windows(cols: Any, channels: int) -> Any:
    """NaN in every tap of a window of which another tap is infinite or NaN."""
    taps = np.reshape(cols, (cols.shape[0], channels, -1, cols.shape[-1]))
    odd = ~np.isfinite(taps)
    others = np.sum(odd, axis=2, keepdims=True) - odd > 0
    return np.reshape(np.where(others, np.nan, taps), cols.shape)


def multiply_window_by_identity(x: Any, **params: Any) -> Any:
    """Multiply each window by the columns of an identity matrix: 0 times infinity."""
    name = "im2col" if x.ndim == 4 else "im2col_3d"
    return _fill_nan_windows(load(name).forward(x, **params), x.shape[1])


def multiply_columns_by_identity(x: Any, **params: Any) -> Any:
    """Multiply each column by the rows of an identity matrix, and add up: 0 times infinity."""
    taps = math.prod(per_axis(params["kernel_size"], 2))
    return load("col2im").forward(_fill_nan_windows(x, x.shape[1] // taps), **params)


def quantize_products(x: Any, scale: Any, zero_point: Any = None, *, type: str) -> Any:
    """Multiply by the reciprocal of the scale, both rounded to float32, before rounding to a code."""
    q = store_as(x * store_as(1 / codes.spread(scale, x.shape), "f32"), "f32")
    moved = q if zero_point is None else np.rint(q) + codes.spread(zero_point, x.shape)
    return codes.encode(moved, type)


def multiply_by_stored_inverse_square(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Store b^-2, and its product with g, before a multiplies it."""
    return unbroadcast(g / b, a.shape), unbroadcast(-((g * (1 / (b * b))) * a), b.shape)


def multiply_halves_of_gradient(g: Any, y: Any, x: Any, *, dim: int | None, keepdim: bool) -> Any:
    """Differentiate a tree of products of halves: each factor's gradient is made of products of the others."""
    rows = np.reshape(x, (-1,)) if dim is None else np.moveaxis(x, dim, 0)
    pairs, count = [], [rows.shape[0]]
    while rows.shape[0] > 1:
        middle = (rows.shape[0] + 1) // 2
        first, second = rows[:middle], rows[middle:]
        if second.shape[0] < middle:
            second = np.concatenate([second, np.ones_like(first[:1])])
        pairs.append((first, second))
        rows = first * second
        count.append(middle)
    slope = np.reshape(g, rows.shape)
    for (first, second), length in zip(reversed(pairs), reversed(count[:-1]), strict=True):
        slope = np.concatenate([slope * second, slope * first])[:length]
    return np.reshape(slope, x.shape) if dim is None else np.moveaxis(slope, 0, dim)


def multiply_by_stored_power_of_reciprocal(g: Any, y: Any, x: Any) -> Any:
    """Store -x^-2 before the cotangent multiplies it."""
    return g * -(1 / (x * x))


def multiply_by_stored_power_of_rsqrt(g: Any, y: Any, x: Any) -> Any:
    """Store -y / (2 x) before the cotangent multiplies it."""
    return g * (-0.5 * (1 / np.sqrt(x) / x))


def multiply_by_stored_slope_of_tan(g: Any, y: Any, x: Any) -> Any:
    """Store 1 + tan(x)^2 before the cotangent multiplies it."""
    return g * (1 + np.square(np.tan(x)))


def multiply_by_stored_slope_of_sigmoid(g: Any, y: Any, x: Any) -> Any:
    """Multiply by y (1 - y), each step of it stored."""
    return g * (y * (1 - y))


def multiply_untaken_branch_by_zero(g: Any, y: Any, x: Any, weight: Any) -> tuple[Any, Any]:
    """Multiply 0 by x where the other branch is taken: NaN where x is infinite."""
    dx, dweight = load("prelu").vjp(g, y, x, weight)  # type: ignore[misc]
    rest = tuple(a for a in range(x.ndim) if a != min(1, x.ndim - 1)) if weight.size > 1 else tuple(range(x.ndim))
    lost = np.any((x > 0) & np.isinf(x), axis=rest)
    return dx, np.where(np.reshape(lost, weight.shape), np.nan, dweight)


def _scan_products(x: Any) -> Any:
    """Products up to each place of the first axis, of pairs, then of pairs of pairs, as jax.lax.associative_scan."""
    if len(x) < 2:
        return x
    odd = _scan_products(x[0:-1:2] * x[1::2])
    even = (odd[:-1] if len(x) % 2 == 0 else odd) * x[2::2]
    found = np.zeros(x.shape, like=x)
    found[0], found[2::2], found[1::2] = x[0], even, odd
    return found


def _scan_back(g: Any, x: Any) -> Any:
    if len(x) < 2:
        return g
    pairs = x[0:-1:2] * x[1::2]
    odd, even = _scan_products(pairs), g[2::2]
    dodd, dx = g[1::2] + 0 * pairs, np.zeros(x.shape, like=x)
    dodd[: len(even)] = dodd[: len(even)] + even * x[2::2]
    dx[0] = g[0]
    dx[2::2] = even * odd[: len(even)]
    dpairs = _scan_back(dodd, pairs)
    dx[0:-1:2] = dx[0:-1:2] + dpairs * x[1::2]
    dx[1::2] = dx[1::2] + dpairs * x[0:-1:2]
    return dx


def multiply_pairs(x: Any, *, dim: int) -> Any:
    """Form products of pairs, and of pairs of pairs, each stored in the dtype."""
    return np.moveaxis(_scan_products(np.moveaxis(x, dim, 0)), 0, dim) if x.ndim else x


def multiply_pairs_of_gradient(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Differentiate `multiply_pairs` step by step."""
    return np.moveaxis(_scan_back(np.moveaxis(g, dim, 0), np.moveaxis(x, dim, 0)), 0, dim) if x.ndim else g


def divide_by_square_of_sum(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Differentiate exp(x) / sum: the square of the sum overflows, and what a row has in common is not taken off."""
    e = np.exp(x - np.max(x, axis=dim, keepdims=True))
    total = np.sum(e, axis=dim, keepdims=True)
    return e * (g / total - np.sum(g * e * (1 / (total * total)), axis=dim, keepdims=True))


def lose_eps(g: Any, y: Any, x: Any, *tensors: Any, **params: Any) -> Any:
    """Take an eps that float16 has no normal number for as 0, and differentiate 1 / sqrt(variance) step by step."""
    eps = params["eps"] if params["eps"] >= LEAST_NORMAL_OF_FLOAT16 else 0.0
    return differentiate_standardisation(g, x, tensors, params, eps)


def store_variance_under_root(g: Any, y: Any, x: Any, *, dim: Dim, correction: int, keepdim: bool) -> Any:
    """Store the variance in float16, where it overflows, before its root is taken: the gradient is 0."""
    centred, n = x - np.mean(x, axis=dim, keepdims=True), max(count(x, dim) - correction, 0)
    spread = np.sqrt(store_as(np.sum(centred * centred, axis=dim, keepdims=True) / n, "f16"))
    return kept(g, x, dim) * 0.5 / spread / n * (2 * centred)


def square_denominator_of_softsign(g: Any, y: Any, x: Any) -> Any:
    """Form g / d - |x| g d^-2 with d = 1 + |x|: the two cancel, and d^-2 is stored."""
    d = 1 + np.abs(x)
    part = g * (1 / (d * d))
    slope = -(np.where(np.abs(part) < LEAST_NORMAL_OF_FLOAT32, 0, part) * x)
    return g / d + np.where(x >= 0, slope, -slope)


def take_no_subnormal_legs(a: Any, b: Any) -> Any:
    """The angle of 0 / 0 where both legs are subnormal."""
    legs = np.maximum(np.abs(a), np.abs(b))
    return np.where((legs < LEAST_NORMAL_OF_FLOAT32) & (legs > 0), np.nan, np.arctan2(a, b))


def order_by_sign_and_bits(x: Any, *, k: int, dim: int, largest: bool) -> tuple[Any, Any]:
    """The first of the total order of IEEE 754, in which a NaN's sign counts."""
    ends = np.where(np.isnan(x), np.where(np.signbit(x), -1, 1), 0)
    values = np.where(np.isnan(x), 0, x)
    order = np.lexsort((-values, -ends) if largest else (values, ends), axis=dim)
    indices = np.take(order, np.arange(k), axis=dim)
    return np.take_along_axis(x, indices, axis=dim), indices


def _count_ones(x: Any, size: int) -> Any:
    """So many ones, added up."""
    return np.sum(np.ones((size,), like=x), axis=0, keepdims=True)


def count_window(x: Any, **params: Any) -> Any:
    """Divide by the number of cells, which is a sum of ones in 16 bits, and stops growing."""
    rank = x.ndim - 2
    size = math.prod(per_axis(params["kernel_size"], rank))
    return load(f"avg_pool{rank}d").forward(x, **params) * (size / _count_ones(x, size))


def count_window_of_gradient(g: Any, y: Any, x: Any, **params: Any) -> Any:
    """The gradient of `count_window`."""
    rank = x.ndim - 2
    size = math.prod(per_axis(params["kernel_size"], rank))
    return load(f"avg_pool{rank}d").vjp(g * (size / _count_ones(x, size)), y, x, **params)  # type: ignore[misc]


def has_many_channels(question: Any) -> bool:
    """Whether a depthwise convolution has thousands of channels."""
    return bool(question.inputs[0].shape[1] >= MANY_CHANNELS)


def divide_by_length_of_stored_squares(g: Any, y: Any, x: Any, *, p: float, dim: Dim, keepdim: bool) -> Any:
    """Divide by a length whose squares are stored: 0 where one of them overflows."""
    if p != 2:
        return load("norm").vjp(g, y, x, p=p, dim=dim, keepdim=keepdim)  # type: ignore[misc]
    return kept(g, x, dim) * (x / np.sqrt(np.sum(x * x, axis=dim, keepdims=True)))


#: The 1-norm up to which the rational function of degree 13 has all digits of float64.
MAX_PADE_NORM = 5.371920351148152
#: Halvings that are counted: norms of thousands.
MAX_HALVINGS = 10
_DEGREE = 13
#: Its coefficients (Higham, SIAM J. Matrix Anal. Appl. 26, 2005).
_PADE = tuple(
    float(math.comb(_DEGREE, j) * math.factorial(2 * _DEGREE - j) // math.factorial(_DEGREE))
    for j in range(_DEGREE + 1)
)


def _exponentiate(x: Any, halvings: Any) -> Any:
    """The exponential of matrices that are halved so often."""
    x = x / np.exp2(halvings)
    one = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    square = np.matmul(x, x)
    even, odd = _PADE[12] * one, _PADE[13] * one
    for j in range(10, -1, -2):
        even, odd = np.matmul(even, square) + _PADE[j] * one, np.matmul(odd, square) + _PADE[j + 1] * one
    odd = np.matmul(x, odd)
    y = np.linalg.solve(even - odd, even + odd)
    for i in range(int(np.max(halvings, initial=0))):
        y = np.where(halvings > i, np.matmul(y, y), y)
    return y


def _count_halvings(x: Any) -> Any:
    norm = np.max(np.sum(np.abs(x), axis=-2, keepdims=True), axis=-1, keepdims=True)
    return sum((norm >= MAX_PADE_NORM * 2.0**k).astype(float) for k in range(1, MAX_HALVINGS + 1))


def halve_once_too_few(x: Any) -> Any:
    """The exponential of a matrix that is halved until its norm is below twice what the rational function is for."""
    return _exponentiate(x, _count_halvings(x))


def differentiate_halved_too_few(g: Any, y: Any, x: Any) -> Any:
    """The gradient of `halve_once_too_few`: a corner of the exponential of a block matrix."""
    n, t = x.shape[-1], np.swapaxes(x, -1, -2)
    upper, lower = np.concatenate([t, g], axis=-1), np.concatenate([np.zeros_like(t), t], axis=-1)
    return _exponentiate(np.concatenate([upper, lower], axis=-2), _count_halvings(x))[..., :n, n:]


LOG_OF_HALF_IN_EXPONENT = {"cosh": add_log_of_half_of_cosh, "sinh": add_log_of_half_of_sinh}
LOG_OF_HALF_IN_EXPONENT_OF_GRADIENT = {"cosh": multiply_by_sinh, "sinh": multiply_by_cosh}
