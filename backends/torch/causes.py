"""What PyTorch's CPU operators compute where they are known to fail: see known.toml."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from opproof.backends.causes import (
    cube_result,
    divide_by_root_of_square_minus_one,
    divide_by_root_of_square_plus_one,
    double_before_halving,
    everywhere,
    find_storage,
    lies_channels_last,
    multiply_before_dividing,
    store_as,
)
from opproof.backends.traced import round_constant
from opproof.cases._layouts import storage_of
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.reference_ops import (
    batch_norm,
    bce_with_logits,
    cross_entropy,
    det,
    layer_norm,
    matrix_exp,
    prod,
    scatter_reduce,
    stft,
    xielu,
)
from opproof.reference_ops._adaptive import blocks
from opproof.reference_ops._arrays import softplus, unbroadcast
from opproof.reference_ops._classes import class_axis, hits, used
from opproof.reference_ops._gated import halves
from opproof.reference_ops._index import along

#: SLEEF's lgamma of float32 is infinite from here on.
MAX_LGAMMA_ARGUMENT = 4e36
#: Norms of a single matrix of float32 whose exponential is a polynomial of degree 8: above the first, up to the second.
DEGREE_8_NORMS = (5.116619363445086e-02, 5.800524627688768e-01)
#: Elements of an image that indices of 16 bits reach.
MAX_INDEXED_ELEMENTS = 2**15


def log1p_of_exp(x: Any, *, beta: float, threshold: float) -> Any:
    """Softplus without a case for large exponents below the threshold."""
    return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


def divide_before_subtracting(a: Any, b: Any) -> Any:
    """What is left after a quotient that overflows: infinity less infinity, in PyTorch's vectors."""
    # Told in https://github.com/gabrieldemarmiesse/torch-mojo-backend/pull/375: 32 numbers of bfloat16 and more.
    return np.where(np.isinf(a / b) & np.isfinite(a) & (b != 0), np.nan, np.fmod(a, b))


def divide_before_flooring(a: Any, b: Any) -> Any:
    """As `divide_before_subtracting`, of a quotient that is floored."""
    return np.where(np.isinf(a / b) & np.isfinite(a) & (b != 0), np.nan, np.remainder(a, b))


def exp_over_exp_plus_one(g: Any, y: Any, x: Any, *, beta: float, threshold: float) -> Any:
    """The gradient of `log1p_of_exp`: infinity where the cotangent's product with exp overflows, over infinity."""
    e = np.exp(x * beta)
    return np.where(x * beta > threshold, g, g * e / (e + 1))


def _compute_sinh(x: Any) -> Any:
    return np.where(np.abs(x) < 1, np.sinh(np.clip(x, -1, 1)), (np.exp(x) - np.exp(-x)) / 2)


def _compute_cosh(x: Any) -> Any:
    return (np.exp(x) + np.exp(-x)) / 2


def halve_exponentials_of_sinh(x: Any) -> Any:
    """Halve e^x after it has overflowed."""
    return _compute_sinh(x)


def halve_exponentials_of_cosh(x: Any) -> Any:
    """Halve e^x after it has overflowed."""
    return _compute_cosh(x)


def multiply_by_cosh(g: Any, y: Any, x: Any) -> Any:
    """Multiply the cotangent by a cosh that has overflowed."""
    return g * _compute_cosh(x)


def multiply_by_sinh(g: Any, y: Any, x: Any) -> Any:
    """Multiply the cotangent by a sinh that has overflowed."""
    return g * _compute_sinh(x)


def divide_by_sum_of_squares(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Multiply by the reciprocal of a^2 + b^2, which is 0 where that overflows."""
    reciprocal = 1 / (a * a + b * b)
    return unbroadcast(g * b * reciprocal, a.shape), unbroadcast(g * -a * reciprocal, b.shape)


def multiply_ignored_rows_by_zero(g: Any, y: Any, x: Any, target: Any, weight: Any = None, **params: Any) -> Any:
    """Multiply the softmax of rows that ignore_index leaves out by 0, which leaves NaN."""
    axis = min(1, x.ndim - 1)
    ignored = np.expand_dims(target == params["ignore_index"], axis)
    dx, dt = cross_entropy.vjp(g, y, x, target, weight, **params)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.where(ignored, 0 * (e / np.sum(e, axis=axis, keepdims=True)), dx), dt


def _expand_along(v: Any, x: Any, dim: int | None, keepdim: bool) -> Any:
    if dim is None:
        return np.reshape(v, (1,) * x.ndim)
    return v if keepdim else np.expand_dims(v, dim)


def divide_stored_products(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Divide sums of the products, which are stored in the dtype, by each element."""
    return np.flip(np.cumsum(np.flip(g * y, axis=dim), axis=dim), axis=dim) / x


def divide_stored_product(g: Any, y: Any, x: Any, *, dim: int | None, keepdim: bool) -> Any:
    """Divide the product, which is stored in the dtype, by each element, where none is 0."""
    if (x == 0).any():
        return prod.vjp(g, y, x, dim=dim, keepdim=keepdim)
    return _expand_along(g, x, dim, keepdim) * (_expand_along(y, x, dim, keepdim) / x)


def forget_cofactors(g: Any, y: Any, x: Any) -> Any:
    """Give the gradient 0 where the determinant is exactly 0."""
    return np.where(np.asarray(y == 0)[..., None, None], 0, det.vjp(g, y, x))


def count_x_among_ties(
    g: Any, y: Any, x: Any, index: Any, src: Any, *, dim: int, reduce: str, include_self: bool = True
) -> Any:
    """The gradient of an extreme that is shared with x where x is equal to it, though x was left out."""
    given: dict[str, Any] = {"dim": dim, "reduce": reduce, "include_self": include_self}
    if include_self or reduce not in ("amax", "amin"):
        return scatter_reduce.vjp(g, y, x, index, src, **given)
    best = scatter_reduce.forward(x, index, src, **given)
    where = along(index, dim)
    dx, dsrc = scatter_reduce.share_among_ties(g, best, (x == best).astype(g.dtype), where, src)
    dx[where] = 0
    return dx, None, dsrc


def divide_scattered_product(
    g: Any, y: Any, x: Any, index: Any, src: Any, *, dim: int, reduce: str, include_self: bool = True
) -> Any:
    """Divide a product that was scattered into, which is stored in the dtype, by each of its factors but zeros."""
    dx, _, dsrc = scatter_reduce.vjp(g, y, x, index, src, dim=dim, reduce=reduce, include_self=include_self)
    if reduce != "prod":
        return dx, None, dsrc
    of_src = (g * y)[along(index, dim)] / np.where(src == 0, 1, src)
    of_x = np.where(x == 0, dx, g * y / np.where(x == 0, 1, x))
    if not include_self:
        of_x[along(index, dim)] = 0
    return of_x, None, np.where(src == 0, dsrc, of_src)


def exponentiate_float32(x: Any) -> Any:
    """The exponential; of one matrix of such a norm a polynomial whose last coefficient lacks a factor of 3 / 2."""
    norm = np.max(np.sum(np.abs(x), axis=-2), initial=0.0)
    if x.size != x.shape[-1] ** 2 or not DEGREE_8_NORMS[0] < norm <= DEGREE_8_NORMS[1]:
        return matrix_exp._exp(x, max(1, int(np.ceil(norm))))  # noqa: SLF001 - of any norm, not of the sizes' own
    root, third = 177**0.5, 2 / 3
    square = np.matmul(x, x)
    fourth = np.matmul(square, third * (1 + root) / 88 * x + third * (1 + root) / 352 * square)
    one = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    linear = (29 * root - 271) / (315 * third) * one + (11 * root - 11) / (1260 * third) * x
    factor = linear + (11 * root - 99) / (5040 * third) * square + (89 - root) / (5040 * third) * fourth
    return one + x + (857 - 58 * root) / 630 * square + np.matmul(third * square + fourth, factor)


def differentiate_exp_of_float32(g: Any, y: Any, x: Any) -> Any:
    """The gradient of `exponentiate_float32`: a corner of the exponential of a block matrix."""
    n, t = x.shape[-1], np.swapaxes(x, -1, -2)
    upper, lower = np.concatenate([t, g], axis=-1), np.concatenate([np.zeros_like(t), t], axis=-1)
    return exponentiate_float32(np.concatenate([upper, lower], axis=-2))[..., :n, n:]


def sum_series_of_trigamma(g: Any, y: Any, x: Any) -> Any:
    """Evaluate trigamma by four terms of its asymptotic series behind six steps of its recurrence."""
    mirrored = x < 0.5
    z, total = np.where(mirrored, 1 - x, x), 0.0
    for _ in range(6):
        total, z = total + 1 / (z * z), z + 1
    square = 1 / (z * z)
    total = total + (1 + 1 / (2 * z) + square * (1 / 6 - square * (1 / 30 - square / 42))) / z
    return g * np.where(mirrored, np.square(np.pi / np.sin(np.pi * x)) - total, total)


def double_before_halving_and_gate(x: Any, gate: Any = None, *, swapped: bool = False, approximate: str = "") -> Any:
    """Work out 2 x first, and multiply by the gate where there is one."""
    if approximate:
        return double_before_halving(x)
    a, b = halves(x, gate, swapped)
    return double_before_halving(a) * b


def multiply_x_by_slope_of_sigmoid(g: Any, y: Any, x: Any) -> Any:
    """Multiply g x, which may be infinite, by a slope that is 0."""
    s = 1 / (1 + np.exp(-1.702 * x))
    return g * s + (g * x) * (s * (1 - s)) * 1.702


def divide_legs_by_length(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Divide the product with each leg, which is stored, by the length: 0 / 0 at the origin."""
    return unbroadcast(g * a / y, a.shape), unbroadcast(g * b / y, b.shape)


def scale_i0_by_exp(x: Any) -> Any:
    """Multiply by exp(|x|), which overflows before the product does."""
    return np.exp(np.abs(x)) * scipy.special.i0e(x)


def scale_i1_by_exp(g: Any, y: Any, x: Any) -> Any:
    """Multiply by exp(|x|), which overflows before the product does."""
    return g * (np.exp(np.abs(x)) * scipy.special.i1e(x))


def store_eps(x: Any, *, dim: int, eps: float) -> Any:
    """Divide by a length that is at least eps as the dtype has it: 0 in float16."""
    return x / np.maximum(np.sqrt(np.sum(x * x, axis=dim, keepdims=True)), store_as(eps, "f16"))


def store_eps_of_gradient(g: Any, y: Any, x: Any, *, dim: int, eps: float) -> Any:
    """The gradient of `store_eps`: 0 / 0 in a row of zeros."""
    length = np.maximum(np.sqrt(np.sum(x * x, axis=dim, keepdims=True)), store_as(eps, "f16"))
    y = x / length
    return (g - y * np.sum(g * y, axis=dim, keepdims=True)) / length


def cancel_cubes_of_spread(
    g: Any, y: Any, x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: Any, eps: float
) -> Any:
    """Form g a + x b + c with b and c that grow as the cube of 1 / spread and cancel."""
    axes = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    n = np.prod([x.shape[a] for a in axes])
    mean = np.mean(x, axis=axes, keepdims=True)
    rstd = 1 / np.sqrt(np.mean(np.square(x - mean), axis=axes, keepdims=True) + eps)
    weighted = g if weight is None else g * weight
    ds, db = (np.sum(v, axis=axes, keepdims=True) for v in (weighted * x, weighted))
    b = (db * mean - ds) * rstd * rstd * rstd / n
    rest = layer_norm.vjp(g, y, x, weight, bias, normalized_shape=normalized_shape, eps=eps)
    return weighted * rstd + x * b + (-b * mean - db * rstd / n), *rest[1:]


def end_early(x: Any) -> Any:
    """Return infinity from the largest argument of SLEEF's lgamma on."""
    return np.where(x > MAX_LGAMMA_ARGUMENT, np.inf, scipy.special.gammaln(x))


def multiply_stored_power(g: Any, y: Any, a: Any, b: Any = None, *, exponent: float | None) -> Any:
    """Store a^(b-1), and y log(a), before the cotangent multiplies them."""
    power: Any = exponent if b is None else b
    da = unbroadcast(g * (power * np.power(a, power - 1)), a.shape)
    if b is None:
        return (da,)
    return da, unbroadcast(g * np.where((a == 0) & (b >= 0), 0, y * np.log(a)), b.shape)


def divide_by_twice_the_deviation(g: Any, y: Any, x: Any, *, dim: Any, correction: int, keepdim: bool) -> Any:
    """Store g / (2 y) and its product with 2 / (n - correction)."""
    axes = tuple(range(x.ndim)) if dim is None else tuple(np.atleast_1d(dim) % x.ndim)
    kept = tuple(1 if a in axes else n for a, n in enumerate(x.shape))
    n = np.prod([x.shape[a] for a in axes])
    half = np.reshape(g, kept) / (np.reshape(y, kept) * 2)
    return (2 / (n - correction)) * half * (x - np.mean(x, axis=axes, keepdims=True))


def add_branch_that_is_not_taken(g: Any, y: Any, x: Any, **params: Any) -> Any:
    """Multiply 2 x, the slope of the branch that is not taken, by 0: NaN where 2 x overflows."""
    return xielu.vjp(g, y, x, **params) + np.where(x > 0, 0, 0 * (2 * x))


def average_equal_rows(g: Any, y: Any, x: Any, window: Any, **params: Any) -> Any:
    """Share the gradient equally among rows that are one in memory."""
    of_x, of_window = stft.vjp(g, y, x, window, **params)
    return np.broadcast_to(np.mean(of_x, axis=0, keepdims=True), x.shape), of_window


def multiply_by_difference_and_by_exp(g: Any, y: Any, x: Any, target: Any, *, reduction: str, log_target: bool) -> Any:
    """Store exp(target) times the difference, which overflows before the other term is added.

    Without logarithms add three terms, of which one is multiplied by target and divided by it: 0 / 0 at 0.
    """
    each = g if reduction == "none" else g / {"sum": 1, "mean": x.size, "batchmean": x.shape[0]}[reduction]
    if not log_target:
        return -(each * target), each * np.log(target) + each * target / target - each * x
    t = np.exp(target)
    return -(each * t), (each * (target - x)) * t + each * t


def add_up_smooth_losses(
    x: Any, target: Any, weight: Any = None, *, ignore_index: int, label_smoothing: float, reduction: str
) -> Any:
    """Add up the losses of all classes, and of all rows, before a small share of them is taken."""
    plain: dict[str, Any] = {"ignore_index": ignore_index, "reduction": reduction}
    if target.shape == x.shape or not label_smoothing:
        return cross_entropy.forward(x, target, weight, label_smoothing=label_smoothing, **plain)
    axis = min(1, x.ndim - 1)
    shifted = x - np.max(x, axis=axis, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
    by_class = 1 if weight is None else np.reshape(weight, (-1,) + (1,) * (x.ndim - 1 - axis))
    smooth = np.where(target == ignore_index, 0, -np.sum(log_p * by_class, axis=axis))
    if reduction != "none":
        smooth = np.sum(smooth) / (used(target, weight, ignore_index)[1] if reduction == "mean" else 1)
    own = cross_entropy.forward(x, target, weight, label_smoothing=0.0, **plain)
    return (1 - label_smoothing) * own + smooth * (label_smoothing / x.shape[axis])


#: Numbers of float32 that a sum along the last axis adds side by side (AVX-512).
SUM_LANES = 16


def add_up_smooth_shares(
    g: Any, y: Any, x: Any, target: Any, weight: Any = None, *, ignore_index: int = -100,
    label_smoothing: float = 0.0, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Add up the cotangents of all classes, which are one number but for the target's, one after the other.

    So are the exponentials of the softmax. Along the last axis 16 numbers are added side by side. Of equal numbers all
    sums are rounded to one side.
    """
    plain: dict[str, Any] = {"ignore_index": ignore_index, "label_smoothing": label_smoothing, "reduction": reduction}
    if target.shape == x.shape or not label_smoothing:
        return cross_entropy.vjp(g, y, x, target, weight, **plain)
    axis, w = class_axis(x.shape), 1 if weight is None else np.reshape(weight, (-1,) + (1,) * (x.ndim - 2))
    w_target, count = used(target, weight, ignore_index)
    per = g if reduction == "none" else np.broadcast_to(g / (count if reduction == "mean" else 1), target.shape)
    even = np.expand_dims(np.where(target == ignore_index, 0, per), axis) * (label_smoothing / x.shape[axis]) * w
    own = np.expand_dims((1 - label_smoothing) * per * w_target, axis)
    shares = np.where(hits(x, target, ignore_index), own + even, even + np.zeros_like(x))
    shifted = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return shifted / _add_up_in_series(shifted, axis) * _add_up_in_series(shares, axis) - shares, None


def _add_up_in_series(x: Any, axis: int) -> Any:
    """Sum along an axis, which stays, each number to those before; along the last axis by lanes."""
    lanes = SUM_LANES if axis == x.ndim - 1 else 1
    slices = [np.take(x, np.arange(i, x.shape[axis], lanes), axis) for i in range(min(lanes, x.shape[axis]))]
    return sum(np.take(np.cumsum(some, axis), [-1], axis) for some in slices)


def add_up_by_halves(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Store the sum of each thread's half of the gradient in the dtype before they are added."""
    flat = np.reshape(g, -1)
    half = -(-flat.size // 2)
    return g, np.reshape(np.sum(flat[:half]) + np.sum(flat[half:]), b.shape)


def divide_by_count_at_last(
    g: Any, y: Any, x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str
) -> Any:
    """Multiply the gradient of target by the cotangent, which overflows, before it is divided by the count."""
    dx, _ = bce_with_logits.vjp(g, y, x, target, weight, pos_weight, reduction=reduction)
    slope = -x if pos_weight is None else softplus(-x) * pos_weight - softplus(x)
    dtarget = slope * g if weight is None else slope * g * weight
    return dx, dtarget / x.size if reduction == "mean" else dtarget


def multiply_before_logarithm(g: Any, y: Any, x: Any) -> Any:
    """Multiply the cotangent by 2^x, which overflows before it is multiplied by log 2."""
    return g * y * np.log(2)


def truncate_stored_quotient(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Take the whole part of a / b as it is stored, which may be one more."""
    return unbroadcast(g, a.shape), unbroadcast(-g * np.trunc(a / b), b.shape)


def where_positions_leave_the_image(question: Any) -> Any:
    """Samples whose positions in 16 bits are infinite or past the last cell; all of an image with too long indices."""
    x, grid = question.inputs[:2]
    if np.prod(x.shape[2:]) > MAX_INDEXED_ELEMENTS:
        return everywhere(question)
    lost: Any = np.zeros(grid.shape[:-1], dtype=bool)
    for n, at in zip(x.shape[2:], (grid[..., 1], grid[..., 0]), strict=True):
        aligned = question.params["align_corners"]
        place = (at + 1) * ((n - 1 if aligned else n) / 2) - (0.0 if aligned else 0.5)
        stored = round_to(place, DTYPES[question.case.dtype])
        lost |= ~np.isfinite(stored) | ((stored > n - 1) & _passes_the_last(n, question))
    if question.mode is Mode.FORWARD:
        return [np.broadcast_to(lost[:, None], question.outputs[0].shape)]
    samples = np.broadcast_to(lost.any(axis=(1, 2))[:, None, None, None], x.shape).copy()
    if question.params["padding_mode"] == "zeros":  # an infinite place is that of the first cells
        samples[..., 2:, :] = samples[..., 2:] = False
    return [samples, np.broadcast_to(lost[..., None], grid.shape)]


def _passes_the_last(n: int, question: Any) -> bool:
    """Whether the place of the last of n cells, to which others are clipped, is rounded up."""
    return bool(question.params["padding_mode"] != "zeros" and round_to(n - 1.0, DTYPES[question.case.dtype]) > n - 1)


def reads_past_the_image(question: Any) -> bool:
    """Whether positions, or indices, in 16 bits lead out of an image."""
    size = question.inputs[0].shape[2:]
    return bool(np.prod(size) > MAX_INDEXED_ELEMENTS or any(_passes_the_last(n, question) for n in size))


def has_equal_rows(question: Any) -> bool:
    """Whether rows of the first tensor are one in memory."""
    return "broadcast" in question.case.layout


def has_short_stride(question: Any) -> bool:
    """Whether an axis of size 1 of a or bᵀ, which counts as contiguous, has a stride that is less than a row."""
    a, b = (find_storage(question, name).strides for name in ("a", "b"))
    (m, k), (n, _) = question.inputs[0].shape, question.inputs[1].shape
    return _steps_short(m, k, *a) or _steps_short(k, n, b[1], b[0])


def _steps_short(rows: int, columns: int, down: int, along: int) -> bool:
    if (rows > 1 and down != columns) or (columns > 1 and along != 1):  # it is copied, and then has usual strides
        return False
    return (rows == 1 and down < columns) or (columns == 1 and 1 < along < rows)


def has_batch_of_several_strides(question: Any) -> bool:
    """Whether the matrices of a strided result are not as far apart, one from the next, as those of the last axis."""
    if not question.case.into:
        return False
    shape = question.outputs[0].shape
    strides = storage_of(shape, question.case.into).strides
    step = strides[-3] if len(shape) > 2 else 0
    for size, stride in zip(reversed(shape[:-2]), reversed(strides[:-2]), strict=True):
        if size > 1 and stride != step:
            return True
        step *= size
    return False


def where_a_score_is_none(question: Any) -> Any:
    """Rows of values that are none; of gradients those, and whole heads of key and value, where a score overflows."""
    if question.mode is Mode.FORWARD:
        return [~np.isfinite(y) for y in question.outputs]
    query, key = question.inputs[:2]
    with np.errstate(all="ignore"):
        scores = np.matmul(query.astype(np.float32), np.swapaxes(key, -1, -2).astype(np.float32))
    rows = ~np.isfinite(scores).all(axis=-1, keepdims=True)
    heads = rows.any(axis=-2, keepdims=True)
    return [np.broadcast_to(m, v.shape) for m, v in zip((rows, heads, heads), question.inputs[:3], strict=True)]


def is_vector_into_gaps(question: Any) -> bool:
    """Whether stacked matrices are multiplied by a vector, and the result is not to lie row by row."""
    a, b = (v.shape for v in question.inputs)
    return len(a) > 2 and len(b) == 1 and question.case.into != "contiguous"


def has_bias_alone(question: Any) -> bool:
    """Whether a norm has a bias and no weight."""
    return question.inputs[1] is None and question.inputs[2] is not None


def read_cotangent_as_channels_last(g: Any, y: Any, x: Any, *others: Any, **params: Any) -> Any:
    """The gradients of batch_norm for the cotangent's numbers in their order in memory, taken for channels last."""
    misread = np.moveaxis(np.reshape(g, (g.shape[0], *g.shape[2:], g.shape[1])), -1, 1)
    return batch_norm.vjp(misread, y, x, *others, **params)


def passes_for_channels_last(question: Any) -> bool:
    """Whether the first tensor lies channels last, its last axis having size 1, or has weights that lie apart."""
    return lies_channels_last(question) or (_is_channels_last(question) and _has_weights_apart(question))


def _is_channels_last(question: Any) -> bool:
    x, storage = question.inputs[0], find_storage(question, question.names[0])
    wanted = storage_of(x.shape, "channels").strides
    return x.ndim > 3 and all(a == b for n, a, b in zip(x.shape, storage.strides, wanted, strict=True) if n > 1)


def _has_weights_apart(question: Any) -> bool:
    return "weight" in question.case.shapes and find_storage(question, "weight").strides != (1,)


def where_weights_are_read_as_neighbours(question: Any) -> Any:
    """The gradient of x where weights do not lie beside each other: what lies there is read in their place."""
    x, apart = question.inputs[0], _is_channels_last(question) and _has_weights_apart(question)
    return [np.full(x.shape, apart), *[None] * (len(question.inputs) - 1)]


def where_weights_meet_padding_alone(question: Any) -> Any:
    """Weights whose places along the last axis all lie in padding: with a stride their gradient is not written."""
    _, weight, *bias = question.inputs
    return [None, np.broadcast_to(_is_met_by_padding_alone(question), weight.shape), *(None for _ in bias)]


def _is_met_by_padding_alone(question: Any) -> Any:
    """Of each place of a window along the last axis, whether a stride leaves it nothing but padding."""
    given = dict(zip(question.names, question.inputs, strict=True))
    stride, padding, dilation = (np.atleast_1d(question.params[n])[-1] for n in ("stride", "padding", "dilation"))
    size, taps = given["x"].shape[-1], np.arange(given["weight"].shape[-1])
    steps = np.arange((size + 2 * padding - dilation * taps[-1] - 1) // stride + 1)
    places = stride * steps[:, None] - padding + dilation * taps
    return ~((places >= 0) & (places < size)).any(axis=0) & (stride > 1)


def meets_padding_alone(question: Any) -> bool:
    """Whether the weight's gradient is asked for, and some weights meet nothing but padding."""
    return bool(question.needs[1] and _is_met_by_padding_alone(question).any())


def has_column_of_padding_alone(question: Any) -> bool:
    """Whether windows are one column wide, and none lies on the image."""
    return bool(_is_met_by_padding_alone(question).tolist() == [True])


def divide_by_stored_count(
    g: Any, y: Any, x: Any, mean: Any = None, var: Any = None, weight: Any = None, bias: Any = None, **params: Any
) -> Any:
    """Divide by the number of elements of a channel as the dtype has it: infinite in float16 beyond 65,504."""
    rest = batch_norm.vjp(g, y, x, mean, var, weight, bias, **params)[1:]
    axes = (0, *range(2, x.ndim))
    count, by_channel = x.size // x.shape[1], (1, -1) + (1,) * (x.ndim - 2)
    h = g if weight is None else g * np.reshape(weight, by_channel)
    if not params["training"]:
        return batch_norm.vjp(g, y, x, mean, var, weight, bias, **params)
    centred = x - np.mean(x, axis=axes, keepdims=True)
    rstd = 1 / np.sqrt(np.mean(centred * centred, axis=axes, keepdims=True) + params["eps"])
    share = np.sum(h * centred, axis=axes, keepdims=True) * rstd * rstd / round_constant(count, x)
    return (h - np.sum(h, axis=axes, keepdims=True) / count - centred * share) * rstd, *rest


def sum_quotient_of_squares(g: Any, y: Any, x: Any, a: Any, b: Any, *, value: float) -> tuple[Any, Any, Any]:
    """Divide by b^2, which is subnormal or overflows, before the gradient of b is summed."""
    da, db = g * (value / b), -g * (value * a / (b * b))
    return unbroadcast(g, x.shape), unbroadcast(da, a.shape), unbroadcast(db, b.shape)


def divide_by_x_times_logarithm(g: Any, y: Any, x: Any) -> Any:
    """Divide by x log 10, which has few digits where x is subnormal."""
    return g / (x * math.log(10))


def divide_twice_by_root(
    g: Any, y: Any, x: Any, *, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Differentiate x / b^beta step by step: windows of squares overflow, gradients times alpha are subnormal."""
    c, before, behind = x.shape[1], size // 2, (size - 1) // 2
    wide = np.zeros((x.shape[0], before + c + behind, *x.shape[2:]), dtype=x.dtype, like=x)
    wide[:, before : before + c] = x * x
    b = np.mean(np.stack([wide[:, i : i + c] for i in range(size)]), axis=0) * alpha + k
    root = b**beta
    shares = -g * (x / root / root) * (beta * b ** (beta - 1)) * alpha / size
    spread = np.zeros(wide.shape, dtype=x.dtype, like=x)
    for i in range(size):  # a window starts at each channel
        spread[:, i : i + c] = spread[:, i : i + c] + shares
    product = spread[:, before : before + c] * x
    return g / root + product + product


def subtract_logarithms(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Add up logarithms of gradients, which have the size of x and lose as many digits."""
    found = 0.0
    for sign in (1.0, -1.0):
        size = np.where(g * sign > 0, np.abs(g), 0.0)
        logs = np.log(np.where(size > 0, size, 1.0)) - y
        logs = np.where(size > 0, logs, -np.inf)
        found = found + sign * np.exp(np.flip(np.logaddexp.accumulate(np.flip(logs, dim), axis=dim), dim) + x)
    return found


def divide_parts_by_stored_count(x: Any, *, output_size: Any) -> Any:
    """Divide the sum of a part by its number of cells in the dtype: f16 has none above 65,504."""
    outputs = (output_size,) * 3 if isinstance(output_size, int) else output_size
    y = np.zeros((*x.shape[:2], *outputs), dtype=x.dtype, like=x)
    one = np.ones((), dtype=x.dtype, like=x)
    for block in blocks(x, output_size, 3):
        y[block.parts] = np.sum(x[block.cells], axis=(-3, -2, -1)) / (one * block.count)
    return y


#: By operator: steps that are stored in the dtype, where they overflow or are subnormal; of values, and of gradients.
STORED_STEPS = {
    "adaptive_avg_pool3d": divide_parts_by_stored_count,
    "cosh": halve_exponentials_of_cosh,
    "cross_entropy": add_up_smooth_losses,
    "sinh": halve_exponentials_of_sinh,
}
STORED_STEPS_OF_GRADIENT = {
    "acosh": divide_by_root_of_square_minus_one,
    "addcdiv": sum_quotient_of_squares,
    "asinh": divide_by_root_of_square_plus_one,
    "atan2": divide_by_sum_of_squares,
    "batch_norm": divide_by_stored_count,
    "bce_with_logits": divide_by_count_at_last,
    "cosh": multiply_by_sinh,
    "cumprod": divide_stored_products,
    "exp2": multiply_before_logarithm,
    "fmod": truncate_stored_quotient,
    "hypot": divide_legs_by_length,
    "kl_div": multiply_by_difference_and_by_exp,
    "local_response_norm": divide_twice_by_root,
    "log10": divide_by_x_times_logarithm,
    "logcumsumexp": subtract_logarithms,
    "pow": multiply_stored_power,
    "prod": divide_stored_product,
    "rsqrt": cube_result,
    "scatter_reduce": divide_scattered_product,
    "sinh": multiply_by_cosh,
    "std": divide_by_twice_the_deviation,
}

#: By operator: steps that overflow, or are 0 times infinity, in any dtype; of values, and of gradients.
OVERFLOWING_STEPS = {
    "fmod": divide_before_subtracting,
    "hardswish": multiply_before_dividing,
    "i0": scale_i0_by_exp,
    "remainder": divide_before_flooring,
    "softplus": log1p_of_exp,
}
OVERFLOWING_STEPS_OF_GRADIENT = {
    "cross_entropy": multiply_ignored_rows_by_zero,
    "gelu_quick": multiply_x_by_slope_of_sigmoid,
    "i0": scale_i1_by_exp,
    "kl_div": multiply_by_difference_and_by_exp,
    "softplus": exp_over_exp_plus_one,
    "xielu": add_branch_that_is_not_taken,
}
