"""What ONNX Runtime's CPU operators compute where they are known to fail: see known.toml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.backends.causes import extract_numbers, round_factors_of_product, store_as
from opproof.core.dtypes import DTYPES
from opproof.reference_ops import _chance, grid_sample
from opproof.reference_ops._cells import gates, products
from opproof.reference_ops._fourier import transformed
from opproof.reference_ops._norm import affine, standardise
from opproof.reference_ops._sampled import read

#: Ends and coefficients of MLAS's sigmoid, odd over even powers from the highest down (mlas/lib/logistic.cpp).
SIGMOID_END = 18.0
SIGMOID_ODD = (4.37031012579801e-11, 1.15627324459942e-07, 6.08574864600143e-05, 8.51377133304701e-03,
               2.48287947061529e-01)  # fmt: skip
SIGMOID_EVEN = (6.10247389755681e-13, 5.76102136993427e-09, 6.29106785017040e-06, 1.70198817374094e-03,
                1.16817656904453e-01, 9.93151921023180e-01)  # fmt: skip
#: The same of its tanh (mlas/lib/tanh.cpp).
TANH_END = 9.0
TANH_ODD = (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
            1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03)  # fmt: skip
TANH_EVEN = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
#: Of the square of a mean, what sums of squares lose in float32: some units of its last digit.
LOST_OF_SQUARE = 2.0**-21
#: What BatchNormalization keeps of a running moment, ONNX's default.
MOMENTUM = 0.9
#: Factor and modulus of std::minstd_rand0, by which Dropout draws (ISO C++, rand.predef).
MINSTD_FACTOR = 16807
MINSTD_MODULUS = 2**31 - 1
#: Numbers from the first on, below the second, are the largest of float8_e4m3 where it is cast to unsaturated.
BACK_IN_RANGE = (480.0, 496.0)


def _evaluate_polynomial(coefficients: tuple[float, ...], square: Any) -> Any:
    total = square * np.float32(coefficients[0]) + np.float32(coefficients[1])
    for c in coefficients[2:]:
        total = total * square + np.float32(c)
    return total


def _compute_sigmoid(x: Any) -> Any:
    x = np.minimum(np.maximum(x, -SIGMOID_END), SIGMOID_END)
    ratio = _evaluate_polynomial(SIGMOID_ODD, x * x) * x / _evaluate_polynomial(SIGMOID_EVEN, x * x)
    return np.minimum(np.maximum(ratio + 0.5, 0), 1)


def _compute_tanh(x: Any) -> Any:
    x = np.minimum(np.maximum(x, -TANH_END), TANH_END)
    return _evaluate_polynomial(TANH_ODD, x * x) * x / _evaluate_polynomial(TANH_EVEN, x * x)


def divide_polynomials_of_sigmoid(x: Any) -> Any:
    """Add a half to a rational function of x, which ends at 18."""
    return _compute_sigmoid(x)


def divide_polynomials_of_silu(x: Any) -> Any:
    """Multiply x by the rational function that stands for its sigmoid."""
    return x * _compute_sigmoid(x)


def divide_polynomials_of_gelu_quick(x: Any) -> Any:
    """Multiply x by the rational function that stands for the sigmoid of 1.702 x."""
    return x * _compute_sigmoid(np.float32(1.702) * x)


def divide_polynomials_of_tanh(x: Any) -> Any:
    """Divide a product with 0.0049 by 0.0049: the product is subnormal before the result is."""
    return _compute_tanh(x)


def divide_polynomials_of_mish(x: Any) -> Any:
    """Multiply x by the rational function that stands for tanh."""
    return x * _compute_tanh(np.log1p(np.exp(x)))


def divide_polynomials_of_gates(
    x: Any, h: Any, c: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None
) -> tuple[Any, Any]:
    """Make gates by the rational functions that stand for sigmoid and tanh."""
    zx, zh = products(x, h, (weight_ih, weight_hh, bias_ih, bias_hh))
    i, f, u, o = gates(zx + zh, 4)
    after = _compute_sigmoid(f) * c + _compute_sigmoid(i) * _compute_tanh(u)
    return _compute_sigmoid(o) * _compute_tanh(after), after


def divide_polynomials_of_reset_gates(
    x: Any, h: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None
) -> Any:
    """Make gates by the rational functions that stand for sigmoid and tanh."""
    (xr, xz, xn), (hr, hz, hn) = (gates(v, 3) for v in products(x, h, (weight_ih, weight_hh, bias_ih, bias_hh)))
    update = _compute_sigmoid(xz + hz)
    return (1 - update) * _compute_tanh(xn + _compute_sigmoid(xr + hr) * hn) + update * h


def subtract_one_from_twice_sigmoid(
    x: Any, h: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None, *, nonlinearity: str
) -> Any:
    """Make the next state by 2 / (1 + exp(-2 z)) - 1 for tanh(z), which cancels next to 0."""
    z = sum(products(x, h, (weight_ih, weight_hh, bias_ih, bias_hh)))
    return 2 / (1 + np.exp(-2 * z)) - 1 if nonlinearity == "tanh" else np.maximum(z, 0)


#: The gates of each cell.
divide_polynomials_of_cell = {
    "rnn_cell": subtract_one_from_twice_sigmoid,
    "gru_cell": divide_polynomials_of_reset_gates,
    "lstm_cell": divide_polynomials_of_gates,
}


def _subtract_mirror(x: Any) -> Any:
    right = 1 / (1 + np.exp(-np.abs(x)))
    return np.where(x < 0, 1 - right, right)


def subtract_sigmoid_from_one(x: Any) -> Any:
    """Take the sigmoid of negative numbers as 1 less that of positive ones."""
    return _subtract_mirror(x)


def subtract_sigmoid_of_silu_from_one(x: Any) -> Any:
    """Multiply x by a sigmoid that is 1 less another."""
    return x * _subtract_mirror(x)


def subtract_sigmoid_of_gelu_quick_from_one(x: Any) -> Any:
    """Multiply x by a sigmoid of 1.702 x, a number of float32, that is 1 less another."""
    return x * _subtract_mirror(np.float32(1.702) * x)


def keep_beyond_lambd(x: Any, *, lambd: float) -> Any:
    """Give 0 for what is neither below -lambd nor above it, NaN among it."""
    x, lambd = store_as(x, "f32"), float(np.float32(lambd))
    return np.where((x < -lambd) | (x > lambd), x, 0)


def shift_beyond_lambd(x: Any, *, lambd: float) -> Any:
    """Give 0 for what is neither below -lambd nor above it, NaN among it."""
    x, lambd = store_as(x, "f32"), float(np.float32(lambd))
    return store_as(np.where(x < -lambd, x + lambd, np.where(x > lambd, x - lambd, 0)), "f32")


SHRINK_BEYOND_LAMBD = {"hardshrink": keep_beyond_lambd, "softshrink": shift_beyond_lambd}


def subtract_square_of_mean(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
    """Take the variance as the mean of squares less the square of the mean."""
    groups = np.reshape(x, (x.shape[0], num_groups, x.shape[1] // num_groups, *x.shape[2:]))
    axes = tuple(range(2, groups.ndim))
    mean = np.mean(groups, axis=axes, keepdims=True)
    variance = np.mean(groups * groups, axis=axes, keepdims=True) - mean * mean
    return affine(np.reshape((groups - mean) / np.sqrt(variance + eps), x.shape), weight, bias)


def write_moments_over_weights(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None, *,
    training: bool, eps: float,
) -> Any:  # fmt: skip
    """Write the next moments over the weight and the bias, which share memory with them where neither was given."""
    axes = (0, *range(2, x.ndim))
    mean = np.mean(x, axis=axes)
    variance = np.mean(np.square(x - np.mean(x, axis=axes, keepdims=True)), axis=axes)
    if weight is None and running_var is None:
        weight = MOMENTUM + (1 - MOMENTUM) * variance
    if bias is None and running_mean is None:
        bias = (1 - MOMENTUM) * mean
    return affine(standardise(x, axes, eps)[0], weight, bias)


def round_factors_of_moments(
    x: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, *,
    momentum: float, unbiased: bool, eps: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Take eps, and what is kept of the running moments, as float32 has them."""
    axes, keep = (0, *range(2, x.ndim)), float(np.float32(1 - momentum))
    mean = np.mean(x, axis=axes, keepdims=True)
    variance = np.mean(np.square(x - mean), axis=axes)
    y = affine(standardise(x, axes, float(np.float32(eps)))[0], weight, bias)
    moved = keep * running_mean + (1 - keep) * np.reshape(mean, (-1,))
    return y, moved, keep * running_var + (1 - keep) * variance


#: Operators whose parameters are attributes of ONNX, which are float32.
round_attributes = {"addmm": round_factors_of_product, "batch_norm_training": round_factors_of_moments}


def sum_windows_on_the_way(x: Any, *, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Add what comes into a window to the sum of the last one, and take off what leaves it, in float32."""
    narrow, factor = np.asarray(x, np.float32), np.float32(np.float32(alpha) / np.float32(size))
    padded = np.pad(narrow * narrow, [(0, 0), ((size - 1) // 2, size // 2), *[(0, 0)] * (x.ndim - 2)])
    total: Any = np.full_like(narrow[:, 0], k)
    for j in range(size):
        total = total + factor * padded[:, j]
    totals = [total]
    for j in range(1, x.shape[1]):
        total = total + factor * padded[:, j + size - 1] - factor * padded[:, j - 1]
        totals.append(total)
    return x / np.stack(totals, axis=1).astype(x.dtype) ** beta


def add_step_in_float32(*, start: float, end: float, step: float) -> Any:
    """Add the step to what was last, in float32."""
    count = int(np.ceil((end - start) / step))
    steps = np.concatenate([np.full(1, start, dtype=np.float32), np.full(count - 1, step, dtype=np.float32)])
    return np.add.accumulate(steps).astype(np.float64)


def cast_without_saturation(x: Any, *, to: str) -> Any:
    """Give NaN past the range of float8_e5m2, which has infinities, and 448 for 480 and its like in float8_e4m3."""
    y = x.astype(DTYPES[to].numpy).astype(x.dtype)
    if to == "f8e5m2":
        return np.where(np.isfinite(x) & np.isinf(y), np.nan, y)
    low, high = BACK_IN_RANGE
    return np.where((np.abs(x) >= low) & (np.abs(x) < high), np.copysign(448.0, x), y)


def _make_chirp(n: int, inverse: bool, kind: Any) -> tuple[Any, Any]:
    """Cosines and sines of pi j^2 / n, made step after step in the dtype `kind`."""
    j = np.arange(n).astype(kind)
    angle = kind(np.pi if inverse else -np.pi) * j * j / kind(n)
    return np.cos(angle).astype(np.float64), np.sin(angle).astype(np.float64)


def _multiply(re: Any, im: Any, factor: tuple[Any, Any]) -> tuple[Any, Any]:
    return re * factor[0] - im * factor[1], re * factor[1] + im * factor[0]


def _transform(re: Any, im: Any, inverse: bool, kind: Any) -> tuple[Any, Any]:
    """The transform along the last axis by Bluestein's chirp, of a length that is no power of two.

    The inverse is multiplied by 1 / n as float32 has it, in float64 too.
    """
    n = re.shape[-1]
    if n & (n - 1) == 0:
        return transformed(re, im, -1, "backward", inverse)
    long = 1 << int(2 * n - 2).bit_length()
    cosine, sine = _make_chirp(n, inverse, kind)
    back = np.zeros((2, long))
    back[:, :n] = cosine, -sine
    back[:, long - n + 1 :] = back[:, n - 1 : 0 : -1]
    factor = transformed(back[0], back[1], -1, "backward", inverse=False)
    rest = np.zeros((*re.shape[:-1], long - n), like=re)
    a, b = (np.concatenate([v, rest], axis=-1) for v in _multiply(re, im, (cosine, sine)))
    product = _multiply(*transformed(a, b, -1, "backward", inverse=False), factor)
    y = transformed(product[0], product[1], -1, "backward", inverse=True)
    scale = np.float32(1) / np.float32(n) if inverse else 1.0
    a, b = _multiply(y[0][..., :n], y[1][..., :n], (cosine, sine))
    return a * scale, b * scale


def _turn(re: Any, im: Any, *, dim: int, inverse: bool, kind: Any) -> tuple[Any, Any]:
    y = _transform(np.moveaxis(re, dim, -1), np.moveaxis(im, dim, -1), inverse, kind)
    return np.moveaxis(y[0], -1, dim), np.moveaxis(y[1], -1, dim)


def _turn_real(x: Any, *, dim: int, kind: Any) -> tuple[Any, Any]:
    half = x.shape[dim] // 2 + 1
    y = _turn(x, np.zeros(x.shape, like=x), dim=dim, inverse=False, kind=kind)
    re, im = (np.moveaxis(np.moveaxis(v, dim, -1)[..., :half], -1, dim) for v in y)
    return re, im


def _turn_frames(x: Any, window: Any, *, n_fft: int, hop_length: int, kind: Any) -> Any:
    starts = np.arange((x.shape[1] - n_fft) // hop_length + 1) * hop_length
    frames = x[:, starts[None, :] + np.arange(n_fft)[:, None]]
    return _turn_real(frames * window[:, None], dim=1, kind=kind)


def _turns_in(kind: Any) -> dict[str, Callable[..., Any]]:
    """Transforms by a chirp whose angles, which grow with the square of the place, are of the dtype `kind`."""
    return {
        "fft": lambda re, im, *, dim, norm, inverse: _turn(re, im, dim=dim, inverse=inverse, kind=kind),
        "rfft": lambda x, *, dim, norm: _turn_real(x, dim=dim, kind=kind),
        "stft": lambda x, window, *, n_fft, hop_length, center: _turn_frames(
            x, window, n_fft=n_fft, hop_length=hop_length, kind=kind
        ),
    }


#: In float32, of all dtypes but float64, and in float64.
turn_by_float32_chirp = _turns_in(np.float32)
turn_by_float64_chirp = _turns_in(np.float64)


def _find_cells(place: Any, n: int, align_corners: bool) -> list[tuple[Any, Any]]:
    """The two cells beside a place of a grid along an axis, cut off at the border, and their weights in float32."""
    moved = store_as(place + 1, "f32")
    if align_corners:
        at = store_as(store_as(moved / 2, "f32") * (n - 1), "f32")
    else:
        at = store_as(store_as(moved * n, "f32") - 1, "f32") / 2
    low = np.floor(at)
    after = store_as(low + 1, "f32")
    first, second = (np.clip(v, 0, n - 1).astype(np.int64) for v in (low, low + 1))
    return [(first, after - at), (second, at - low)]


def weigh_before_the_border(x: Any, grid: Any, *, mode: str, padding_mode: str, align_corners: bool) -> Any:
    """Take the weights of the place itself, and the cells at the border."""
    if mode != "bilinear" or padding_mode != "border":
        return grid_sample.forward(x, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
    total = np.zeros((*x.shape[:2], *grid.shape[1:3]), like=x)
    for row, down in _find_cells(grid[..., 1], x.shape[2], align_corners):
        for column, across in _find_cells(grid[..., 0], x.shape[3], align_corners):
            total = total + read(x, row, column) * (down * across)[:, None]
    return total


def where_nan_is_expected(question: Any) -> Any:
    """Elements of which the reference makes NaN."""
    return [np.isnan(y) for y in question.outputs]


def has_no_terms(question: Any) -> bool:
    """Whether a product of matrices is one over nothing."""
    return bool(question.inputs[0].shape[-1] == 0)


def _draw_by_minstd(key: int, count: int) -> Any:
    """So many numbers of [0, 1) as std::minstd_rand0 gives them, which takes the seed 0 for 1."""
    numbers, state = np.empty(count), key % MINSTD_MODULUS or 1
    for k in range(count):
        state = state * MINSTD_FACTOR % MINSTD_MODULUS
        numbers[k] = (state - 1) / (MINSTD_MODULUS - 1)
    return numbers


def draws_like_the_next_key(question: Any) -> bool:
    """Whether what a key draws and what the next one draws are alike: they are k and k + 1 times that of the key 1."""
    x, given = question.inputs[0], question.params
    count = x.shape[0] * given["count"] if "count" in given else x.size
    one, other = (_draw_by_minstd(given["key"] + k, count) for k in (0, 1))
    parts = (1 - given["p"],) if "p" in given else (1 / 8, 1 / 4, 1 / 2, 3 / 4)
    return any(_chance.alike(one < q, other < q, q) for q in parts)


def draw_above_the_probability(x: Any, drawn: Any = None, *, key: int) -> Any:
    """Give 1 where a number of [0, 1) is above the probability; float64 draws twice for a number."""
    p = extract_numbers(x)
    arithmetic = getattr(x, "arithmetic", None)
    wide = arithmetic is not None and arithmetic.operations.name == "f64"
    numbers = _draw_by_minstd(key, p.size * (2 if wide else 1))
    numbers = numbers[::2] / (MINSTD_MODULUS - 1) + numbers[1::2] if wide else numbers.astype(np.float32)
    return np.where(numbers.reshape(p.shape) > p, 1 + 0 * x, 0 * x)


def has_bytes_of_both_kinds(question: Any) -> bool:
    """Whether bytes with a sign are multiplied by bytes without."""
    kinds = {question.params.get(name) for name in ("type", "weight_type", "b_type")}
    return {"i8", "u8"} <= kinds


def has_one_row_of_mask(question: Any) -> bool:
    """Whether a mask has one row for several queries."""
    query = question.inputs[0]
    masks = [v for n, v in zip(question.names, question.inputs, strict=True) if n in ("keep", "attn_mask")]
    return any(v is not None and v.shape[-2] == 1 < query.shape[-2] for v in masks)


def groups_whose_variance_is_lost(question: Any) -> Any:
    """Groups whose variance is less than what float32 keeps of the square of their mean."""
    x, groups = question.inputs[0], question.params["num_groups"]
    rows = np.reshape(x, (x.shape[0], groups, -1))
    lost = np.var(rows, axis=2, keepdims=True) < LOST_OF_SQUARE * np.square(np.mean(rows, axis=2, keepdims=True))
    return [np.reshape(np.broadcast_to(lost, rows.shape), x.shape)]


RATIONAL_SIGMOID = {
    "gelu_quick": divide_polynomials_of_gelu_quick,
    "sigmoid": divide_polynomials_of_sigmoid,
    "silu": divide_polynomials_of_silu,
}

SIGMOID_FROM_ONE = {
    "gelu_quick": subtract_sigmoid_of_gelu_quick_from_one,
    "sigmoid": subtract_sigmoid_from_one,
    "silu": subtract_sigmoid_of_silu_from_one,
}
