"""Changed references that lists of several libraries name: what they take is said in known_failures/causes.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from opproof.cases._layouts import Storage, cotangent_layout, layouts_of, storage_of
from opproof.core.dtypes import round_to
from opproof.core.verdicts import Mode
from opproof.harness.reference.montecarlo.array import NoisyArray
from opproof.harness.reference.rounded_arithmetic import FORMATS, RoundedArithmetic, RoundedArray, unwrap, wrap
from opproof.reference_ops import addmm
from opproof.reference_ops import scaled_dot_product_attention as attention
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._axes import Dim, count, kept
from opproof.reference_ops._norm import per_channel
from opproof.reference_ops.tensordot import as_matrices

#: SELU's constants (Klambauer et al., Self-Normalizing Neural Networks, 2017).
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
#: Abramowitz and Stegun 7.1.26, by which vector code evaluates erf in float32.
ERF_SCALE = 0.3275911
ERF_COEFFICIENTS = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
#: sqrt(2 / pi) of the tanh form of GELU.
GELU_SCALE = 0.7978845608028654


def store_as(x: Any, name: str) -> Any:
    """`x` stored in the format `name` (f16, bf16, f32), its range included, in whatever arithmetic it is."""
    kind = FORMATS[name]
    if isinstance(x, NoisyArray):
        exact = np.asarray(round_to(x.exact, kind))
        return NoisyArray(exact, np.repeat(exact[None], x.source.runs, axis=0), x.source)
    if isinstance(x, RoundedArray):
        return wrap(round_to(unwrap(x), kind), x.arithmetic)
    return np.asarray(round_to(np.asarray(x), kind))


def extract_numbers(x: Any) -> Any:
    """The numbers of `x` as a plain array, in whatever arithmetic it is: what is decided by them is decided once."""
    if isinstance(x, NoisyArray):
        return np.asarray(x.exact)
    return unwrap(x)


def find_storage(question: Any, name: str) -> Storage:
    """Where the elements of the question's tensor of that name lie in memory, of one used twice where it lies first."""
    name = next((given for n, given in question.case.tensors if n == name and isinstance(given, str)), name)
    return storage_of(question.inputs[question.names.index(name)].shape, layouts_of(question.case)[name])


def compute_once(function: Callable[[Any], Any], x: Any) -> Any:
    """What `function` makes of the numbers of `x`, once and for all, in whatever arithmetic they are."""
    if isinstance(x, NoisyArray):
        exact = np.asarray(function(np.asarray(x.exact)))
        return NoisyArray(exact, np.repeat(exact[None], x.source.runs, axis=0), x.source)
    return (
        wrap(function(unwrap(x)), x.arithmetic) if isinstance(x, RoundedArray) else np.asarray(function(np.asarray(x)))
    )


def cut_off(x: Any, name: str) -> Any:
    """`x` in the format `name`, digits past its last cut off; infinite from the power of two after its largest on."""
    kind = FORMATS[name]
    how = RoundedArithmetic(kind, kind, truncates=True)

    def cut(values: Any) -> Any:
        past = np.abs(values) >= 2.0 ** (kind.max_exponent + 1)
        return np.where(past, np.copysign(np.inf, values), how.rounded(values))

    return compute_once(cut, x)


def multiply_in_turn(a: Any, b: Any, first: Any, step: int = 1) -> Any:
    """Add a @ b to `first`, `step` products at a time, in float32, every sum stored in the format of sums."""
    if not isinstance(b, RoundedArray):
        return first + np.matmul(a, b)
    left, right, total = unwrap(a), unwrap(b), unwrap(first)
    for k in range(0, right.shape[-2], step):
        products = left[..., k : k + step] @ right[..., k : k + step, :]
        total = b.arithmetic.summed(np.add(total, products, dtype=np.float32))
    return wrap(b.arithmetic.rounded(total), b.arithmetic)


def divide_by_at_least_one(x: Any, *, dim: Any, keepdim: bool) -> Any:
    """Give 0 for the mean of nothing."""
    axes = tuple(range(x.ndim)) if dim is None else tuple(np.atleast_1d(dim) % x.ndim)
    count = math.prod(x.shape[a] for a in axes)
    return np.sum(x, axis=axes, keepdims=keepdim) / max(count, 1)


def subtract_one_from_exp(x: Any, *, alpha: float) -> Any:
    """Take exp(x) - 1 for elu, which cancels near 0."""
    return np.where(x > 0, x, alpha * (np.exp(np.minimum(x, 0)) - 1))


def subtract_one_from_exp_of_quotient(x: Any, *, alpha: float) -> Any:
    """Take exp(x / alpha) - 1 for celu, which cancels near 0."""
    return np.maximum(x, 0) + np.minimum(alpha * (np.exp(x / alpha) - 1), 0)


def subtract_one_from_scaled_exp(x: Any) -> Any:
    """Take exp(x) - 1 for selu, which cancels near 0."""
    return np.where(x > 0, SELU_SCALE * x, SELU_SCALE * (SELU_ALPHA * np.exp(np.minimum(x, 0)) - SELU_ALPHA))


def rows_with_nan(question: Any) -> Any:
    """Every element of a row in which there is NaN: what comes of it depends on where it stands."""
    x, dim = question.inputs[0], question.params["dim"]
    has = np.isnan(x).any(axis=dim, keepdims=True)
    return [np.broadcast_to(has, y.shape) if y.ndim == x.ndim else np.reshape(has, y.shape) for y in question.outputs]


def windows_with_nan(question: Any) -> Any:
    """Windows in which there is NaN: what comes of it depends on where it stands."""
    x = question.inputs[0]
    largest = question.op.forward(np.where(np.isnan(x), np.inf, 0.0), **question.params)[0]
    return [largest == np.inf] * 2


def everywhere(question: Any) -> Any:
    """Every element of every result: none is written, or any sum may saturate."""
    results = question.inputs if question.mode is Mode.GRADIENT else question.outputs
    return [None if v is None else np.ones(v.shape, dtype=bool) for v in results]


def is_empty(question: Any) -> bool:
    """Whether a tensor has no elements."""
    return any(v is not None and v.size == 0 for v in question.inputs)


def fit_erf(x: Any) -> Any:
    """Evaluate erf as 1 - p(t) exp(-x^2), which cancels for small x."""
    t = 1 / (1 + ERF_SCALE * np.abs(x))
    p = 0.0
    for c in reversed(ERF_COEFFICIENTS):
        p = (p + c) * t
    return np.where(x < 0, -1.0, 1.0) * (1 - p * np.exp(-x * x))


def double_before_halving(x: Any, **_: Any) -> Any:
    """Work out 2 x first for gelu: infinite from 2^127 on, and NaN at infinity."""
    size = np.abs(x)
    return (x + size - size * scipy.special.erfc(size / np.sqrt(2))) / 2


def multiply_by_stored_sinh(g: Any, y: Any, x: Any) -> Any:
    """Store sinh(x) before the cotangent multiplies it."""
    return g * np.sinh(x)


def multiply_by_stored_cosh(g: Any, y: Any, x: Any) -> Any:
    """Store cosh(x) before the cotangent multiplies it."""
    return g * np.cosh(x)


def divide_by_stored_sum_of_squares(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Compute a^2 + b^2 as it is written: 0 where that overflows."""
    total = a * a + b * b
    return unbroadcast(g / total * b, a.shape), unbroadcast(g / total * -a, b.shape)


def _slope_of_size(g: Any, y: Any, x: Any, p: float, dim: Dim, dtype: str = "f64") -> Any:
    """The gradient of a norm by |x|, the power, the sum and the root differentiated one after the other.

    The exponents of the root and of its slope are numbers of `dtype`.
    """
    size, along = np.abs(x), kept(g, x, dim)
    if p == 2:
        half = along * 0.5 / kept(y, x, dim)
        return half * size + half * size
    sums = np.sum(size**p, axis=dim, keepdims=True)
    inverse = float(store_as(np.asarray(1 / p), dtype))
    less = float(store_as(np.asarray(inverse - 1), dtype))
    return along * (inverse * sums**less) * (p * size ** (p - 1))


def halve_over_length(g: Any, y: Any, x: Any, *, p: float, dim: Dim, keepdim: bool) -> Any:
    """Differentiate the powers and the root step by step: 0 / 0 in a row of zeros, infinity times 0 at 0."""
    return _slope_of_size(g, y, x, p, dim) * np.sign(x)


def halve_over_length_by_sign(g: Any, y: Any, x: Any, *, p: float, dim: Dim, keepdim: bool) -> Any:
    """Differentiate the powers and the root step by step, and |x| by a branch: infinite at 0 for p < 1."""
    slope = _slope_of_size(g, y, x, p, dim)
    return np.where(x >= 0, slope, -slope)


def multiply_by_reciprocal(a: Any, b: Any) -> Any:
    """Invert the divisor once, rounded, and multiply."""
    return a * (1 / b)


def _root_of_sum(x: Any, p: float, dim: Dim, dtype: str, *, keepdim: bool) -> Any:
    return np.sum(np.abs(x) ** p, axis=dim, keepdims=keepdim) ** float(store_as(np.asarray(1 / p), dtype))


def store_exponent_in_f16(x: Any, *, p: float, dim: Dim, keepdim: bool) -> Any:
    """Store 1 / p in float16, by which the sum is raised."""
    return _root_of_sum(x, p, dim, "f16", keepdim=keepdim)


def store_exponent_in_bf16(x: Any, *, p: float, dim: Dim, keepdim: bool) -> Any:
    """Store 1 / p in bfloat16, by which the sum is raised."""
    return _root_of_sum(x, p, dim, "bf16", keepdim=keepdim)


def store_exponents_in_f16(g: Any, y: Any, x: Any, *, p: float, dim: Dim, keepdim: bool) -> Any:
    """Store 1 / p and 1 / p - 1 in float16: a power of sums near 30,000 tells the difference."""
    return _slope_of_size(g, y, x, p, dim, "f16") * np.sign(x)


def store_exponents_in_bf16(g: Any, y: Any, x: Any, *, p: float, dim: Dim, keepdim: bool) -> Any:
    """Store 1 / p and 1 / p - 1 in bfloat16: a power of sums near 30,000 tells the difference."""
    return _slope_of_size(g, y, x, p, dim, "bf16") * np.sign(x)


def halve_over_deviation(g: Any, y: Any, x: Any, *, dim: Dim, correction: int, keepdim: bool) -> Any:
    """Differentiate the root and the squares step by step: 0 / 0 in a constant row."""
    half = kept(g, x, dim) * 0.5 / kept(y, x, dim) / max(count(x, dim) - correction, 0)
    slope = half * ((x - np.mean(x, axis=dim, keepdims=True)) * 2)
    return slope - np.mean(slope, axis=dim, keepdims=True)


def divide_exponentials_of_sigmoid(x: Any) -> Any:
    """Evaluate x sigmoid(x) with 1 / (1 + exp(-x)), whose exponential overflows."""
    return x * (1 / (1 + np.exp(-x)))


def multiply_x_by_slope(g: Any, y: Any, x: Any) -> Any:
    """Multiply g x, which may be infinite, by a slope of the sigmoid that is 0."""
    s = 1 / (1 + np.exp(-x))
    return g * s + (g * x) * (s * (1 - s))


def multiply_x_by_bell(g: Any, y: Any, x: Any, *, approximate: str) -> Any:
    """Form g x, which may be infinite, before a bell that is 0 multiplies it; of the tanh form 3 x^2 overflows."""
    if approximate != "none":
        t = np.tanh(GELU_SCALE * (x + 0.044715 * (x * x * x)))
        along = (g * x) * 0.5 * (1 - t) * (1 + t) * GELU_SCALE
        return g * (0.5 * (1 + t)) + along + along * 0.044715 * (3 * (x * x))
    u = x / np.sqrt(2)
    bell = (g / 2 * x) * (2 / np.sqrt(np.pi)) * np.exp(-(u * u)) / np.sqrt(2)
    return g / 2 * (1 + scipy.special.erf(u)) + bell


def multiply_x_by_slope_of_mish(g: Any, y: Any, x: Any) -> Any:
    """Multiply g x, which may be infinite, by a slope of tanh that is 0."""
    rest = np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)
    t = np.tanh(rest)
    return g * t + (g * x) * ((1 - t) * (1 + t)) * (1 / (1 + np.exp(-x)))


def subtract_quotients_of_softsign(g: Any, y: Any, x: Any) -> Any:
    """Form g / d - |x| g / d^2 with d = 1 + |x|: the two cancel, and d^2 overflows."""
    d = 1 + np.abs(x)
    return g / d + np.sign(x) * (-(g * x) / (d * d))


def multiply_by_stored_power(g: Any, y: Any, a: Any, b: Any = None, *, exponent: float | None) -> Any:
    """Store b a^(b-1), and y log(a), before the cotangent multiplies them."""
    power: Any = exponent if b is None else b
    da = unbroadcast(g * (power * np.power(a, power - 1)), a.shape)
    if b is None:
        return (da,)
    return da, unbroadcast(g * np.where(y == 0, 0, y * np.log(np.where(a == 0, 1, a))), b.shape)


def average_masked_rows(*tensors: Any, **params: Any) -> Any:
    """Mask with a large finite number: a row whose keys are all masked gives the mean of the values."""
    query, key, value = tensors[:3]
    y = attention.forward(*tensors, **params)
    mean = np.mean(value, axis=-2, keepdims=True)
    groups = query.shape[-3] // value.shape[-3]
    return np.where(_find_masked_rows(query, key, *tensors[3:], **params), np.repeat(mean, groups, axis=-3), y)


def average_masked_rows_of_gradient(g: Any, y: Any, *tensors: Any, **params: Any) -> Any:
    """Hand the cotangent of a row whose keys are all masked to the values, in equal shares."""
    query, key, value = tensors[:3]
    masked = _find_masked_rows(query, key, *tensors[3:], **params)
    found = list(attention.vjp(np.where(masked, 0, g), y, *tensors, **params))
    share = np.sum(np.where(masked, g, 0), axis=-2, keepdims=True) / key.shape[-2]
    split = np.reshape(share, (*share.shape[:-3], value.shape[-3], -1, *share.shape[-2:]))
    found[2] = found[2] + np.sum(split, axis=-3)
    return tuple(found)


def _find_masked_rows(query: Any, key: Any, attn_mask: Any = None, keep: Any = None, *rest: Any, **params: Any) -> Any:
    if keep is None:
        return np.zeros((*query.shape[:-1], 1), dtype=bool)
    seen = np.broadcast_to(np.asarray(keep) != 0, (*query.shape[:-1], key.shape[-2]))
    return ~np.any(seen, axis=-1, keepdims=True)


def divide_by_root_of_square_minus_one(g: Any, y: Any, x: Any) -> Any:
    """Square x in its own dtype, where it overflows."""
    return g / np.sqrt(x * x - 1)


def divide_by_root_of_square_plus_one(g: Any, y: Any, x: Any) -> Any:
    """Square x in its own dtype, where it overflows."""
    return g / np.sqrt(x * x + 1)


def _find_standard_axes(x: Any, params: Any) -> tuple[Any, tuple[int, ...]]:
    """The tensor x in the shape in which it is standardised, and the axes of its moments."""
    if "normalized_shape" in params:
        return x, tuple(range(-len(params["normalized_shape"]), 0))
    if "num_groups" in params:
        groups = np.reshape(x, (x.shape[0], params["num_groups"], -1, *x.shape[2:]))
        return groups, tuple(range(2, groups.ndim))
    return x, (0, *range(2, x.ndim)) if "training" in params else tuple(range(2, x.ndim))


def _compute_moments(groups: Any, axes: tuple[int, ...], x: Any, given: Any) -> tuple[Any, Any]:
    if given is not None:
        return per_channel(given[0], x.ndim), per_channel(given[1], x.ndim)
    mean = np.mean(groups, axis=axes, keepdims=True)
    return mean, np.mean(np.square(groups - mean), axis=axes, keepdims=True)


def _reshape_parameter(v: Any, x: Any, params: Any) -> Any:
    return v if v is None or "normalized_shape" in params else per_channel(v, x.ndim)


def _split(tensors: tuple[Any, ...], params: Any) -> tuple[Any, Any, Any]:
    """Given moments, weight and bias."""
    moments = tensors[:-2] if params.get("training", True) is False else None
    return moments, *tensors[-2:]


def differentiate_standardisation(g: Any, x: Any, tensors: Any, params: Any, eps: float, stores: str = "") -> Any:
    """Gradients of a standardisation whose 1 / sqrt(variance + eps) is differentiated step by step.

    `stores`: the format in which the variance, and the sum of products that is to meet its derivative, are stored.
    """
    moments, weight, bias = _split(tensors, params)
    groups, axes = _find_standard_axes(x, params)
    h = np.reshape(g if weight is None else g * _reshape_parameter(weight, x, params), groups.shape)
    mean, variance = _compute_moments(groups, axes, x, moments)
    variance = store_as(variance, stores) if stores else variance
    centred, root = groups - mean, 1 / np.sqrt(variance + eps)
    dx = h * root
    if moments is None:
        n = math.prod(groups.shape[a] for a in axes)
        sums = np.sum(h * centred, axis=axes, keepdims=True)
        slope = (store_as(sums, stores) if stores else sums) * (-0.5 * (root / (variance + eps)))
        dx = dx + slope / n * (2 * centred)
        dx = dx - np.mean(dx, axis=axes, keepdims=True)
    whole = "normalized_shape" in params
    rest = tuple(range(x.ndim - len(params["normalized_shape"]))) if whole else (0, *range(2, x.ndim))
    dweight = None if weight is None else np.sum(g * np.reshape(centred * root, x.shape), axis=rest)
    return (
        np.reshape(dx, x.shape),
        *[None] * (len(tensors) - 2),
        dweight,
        None if bias is None else np.sum(g, axis=rest),
    )


def differentiate_scale(g: Any, y: Any, x: Any, *tensors: Any, **params: Any) -> Any:
    """Differentiate 1 / sqrt(variance + eps) step by step: its cube overflows, and meets an infinite sum or 0."""
    return differentiate_standardisation(g, x, tensors, params, params["eps"])


def store_variance(x: Any, *tensors: Any, **params: Any) -> Any:
    """Store the variance in float16, where it overflows, and nothing else."""
    moments, weight, bias = _split(tensors, params)
    groups, axes = _find_standard_axes(x, params)
    mean, variance = _compute_moments(groups, axes, x, moments)
    unit = np.reshape((groups - mean) / np.sqrt(store_as(variance, "f16") + params["eps"]), x.shape)
    y = unit if weight is None else unit * _reshape_parameter(weight, x, params)
    return y if bias is None else y + _reshape_parameter(bias, x, params)


def store_variance_of_gradient(g: Any, y: Any, x: Any, *tensors: Any, **params: Any) -> Any:
    """Store the variance, and the sum of products that is to meet its derivative, in float16."""
    return differentiate_standardisation(g, x, tensors, params, params["eps"], "f16")


def floor_rounded_quotient(a: Any, b: Any) -> Any:
    """Floor the quotient after it is rounded: one too many where it is just below an integer."""
    return np.floor(a / b)


def _find_cells(n: int, out: int) -> Any:
    scale = np.float32(n) / np.float32(out)
    return np.minimum(np.floor(np.arange(out, dtype=np.float32) * scale).astype(np.int64), n - 1)


def find_cells_in_float32(x: Any, *, size: tuple[int, int]) -> Any:
    """Read the cell at i times the scale, which float32 rounds below an integer."""
    h, w = (_find_cells(n, out) for n, out in zip(x.shape[2:], size, strict=True))
    return x[:, :, h[:, None], w]


def find_cells_in_float32_of_gradient(g: Any, _y: Any, x: Any, *, size: tuple[int, int]) -> Any:
    """Add to the cells that `find_cells_in_float32` reads."""
    h, w = (_find_cells(n, out) for n, out in zip(x.shape[2:], size, strict=True))
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    where: Any = (slice(None), slice(None), h[:, None], w)
    np.add.at(dx, where, g)
    return dx


def round_factors_of_product(x: Any, a: Any, b: Any, *, beta: float, alpha: float) -> Any:
    """Take both factors as float32 has them."""
    return addmm.forward(x, a, b, beta=float(np.float32(beta)), alpha=float(np.float32(alpha)))


def find_cells_by_quotient(x: Any, *, size: tuple[int, int]) -> Any:
    """Read the cell at i over the scale, a quotient of float32 below an integer."""
    scales = (np.float32(out) / np.float32(n) for n, out in zip(x.shape[2:], size, strict=True))
    cells = (
        np.floor(np.arange(out, dtype=np.float32) / s).astype(np.int64) for out, s in zip(size, scales, strict=True)
    )
    h, w = (np.minimum(v, n - 1) for n, v in zip(x.shape[2:], cells, strict=True))
    return x[:, :, h[:, None], w]


def multiply_before_dividing(x: Any) -> Any:
    """Multiply x by relu6(x + 3), which overflows before it is divided by 6."""
    return x * np.minimum(np.maximum(x + 3, 0), 6) / 6


def cube_result(g: Any, y: Any, x: Any) -> Any:
    """Store the cube of the result, which overflows before the cotangent multiplies it."""
    return -0.5 * g * (y * y * y)


def divide_one_by_sum_with_exponential(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def divide_stored_sum(x: Any, *, dim: Any, keepdim: bool) -> Any:
    """Store the sum of a mean before it is divided."""
    count = x.size if dim is None else math.prod(x.shape[a] for a in np.atleast_1d(dim))
    return np.sum(x, axis=dim if dim is None or np.ndim(dim) == 0 else tuple(dim), keepdims=keepdim) / count


def scale_by_stored_sum(g: Any, y: Any, _x: Any, *, dim: int) -> Any:
    """Add up the cotangents to a number of float16, which may be infinite, for log_softmax."""
    return g - np.exp(y) * store_as(np.sum(g, axis=dim, keepdims=True), "f16")


def _of_pairs(y: Any, a: Any, b: Any) -> Any:
    """`y`, the product of a and b, and NaN where the last of an odd number of terms has an infinite factor."""
    if a.shape[-1] % 2 == 0:
        return y
    last, columns = (0 * np.isinf(extract_numbers(v)) for v in (a, b))
    last[..., -1] = np.isinf(extract_numbers(a)[..., -1])
    columns[..., -1, :] = np.isinf(extract_numbers(b)[..., -1, :])
    return np.where(np.matmul(last, np.ones(b.shape)) + np.matmul(np.ones(a.shape), columns) > 0, np.nan, y)


def pad_terms_to_pairs(*tensors: Any, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """Multiply the last of an odd number of terms by 0 too: NaN where it is infinite."""
    a, b = tensors[-2:]
    y = _of_pairs(np.matmul(a, b), a, b)
    return y if len(tensors) == 2 else alpha * y if beta == 0 else beta * tensors[0] + alpha * y


def pad_terms_to_pairs_of_linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """Multiply the last of an odd number of terms by 0 too: NaN where it is infinite."""
    right = np.swapaxes(weight, 0, 1)
    y = _of_pairs(np.matmul(x, right), x, right)
    return y if bias is None else y + bias


def pad_terms_to_pairs_of_tensordot(a: Any, b: Any, *, axes: int = 2) -> Any:
    """Multiply the last of an odd number of terms by 0 too: NaN where it is infinite."""
    left, right = as_matrices(a, b, axes)
    return np.reshape(_of_pairs(np.matmul(left, right), left, right), a.shape[: a.ndim - axes] + b.shape[axes:])


def where_no_number_is_expected(question: Any) -> Any:
    """Elements whose row or column holds an infinity."""
    return [~np.isfinite(y) for y in question.outputs]


def is_training(question: Any) -> bool:
    """Whether moments are those of the batch."""
    return bool(question.params["training"])


def replace_nan_by_zero(x: Any) -> Any:
    """Take x where it is above 0, which NaN is not, and 0 elsewhere."""
    return np.where(x > 0, x, 0)


def keep_first_unless_larger(a: Any, b: Any) -> Any:
    """Take the second where it is the smaller, which no comparison with NaN says."""
    return np.where(b < a, b, a)


def has_one_axis(question: Any) -> bool:
    """Whether the first tensor is a vector: a signal without a batch."""
    return bool(question.inputs[0].ndim == 1)


def has_empty_result(question: Any) -> bool:
    """Whether the result has no elements."""
    return any(y.size == 0 for y in question.outputs)


def lies_channels_last(question: Any) -> bool:
    """Whether the first tensor lies channels last, its last axis has size 1, and the cotangent lies row by row."""
    shape, case = question.inputs[0].shape, question.case
    strides = storage_of(shape, layouts_of(case)[question.names[0]]).strides
    wanted = storage_of(shape, "channels").strides
    same = all(s == w for n, s, w in zip(shape, strides, wanted, strict=True) if n > 1)
    return len(shape) > 3 and shape[-1] == 1 and same and cotangent_layout(case) == "contiguous"


PAIRS_OF_TERMS = {
    "baddbmm": pad_terms_to_pairs,
    "bmm": pad_terms_to_pairs,
    "linear": pad_terms_to_pairs_of_linear,
    "matmul": pad_terms_to_pairs,
    "tensordot": pad_terms_to_pairs_of_tensordot,
}
EXP_LESS_ONE = {
    "celu": subtract_one_from_exp_of_quotient,
    "elu": subtract_one_from_exp,
    "selu": subtract_one_from_scaled_exp,
}
