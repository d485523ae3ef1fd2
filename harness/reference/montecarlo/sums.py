"""Sums, contractions, extremes and scans of noisy arrays (anything with `exact`, `runs` and `source`) or plain ones.

Sums of few different numbers round to the same side each time, and their error grows with the number of terms. So such
a sum is made in float32, forwards and backwards, and what it is off by counts where that is more than the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.dtypes import DTYPES

Floats = NDArray[Any]
_NESTED = (list, tuple)
#: So many times a number's own rounding is all of it: what is smaller has gone before.
GONE_ROUNDOFFS = 2.0**24


def exact_of(value: Any) -> Any:
    """The exact values of a noisy array, anything else as it is."""
    return value.exact if hasattr(value, "runs") else value


def run_of(value: Any, i: int) -> Any:
    """Run `i` of a noisy array, anything else as it is."""
    return value.runs[i] if hasattr(value, "runs") else value


def map_arrays(f: Callable[[Any], Any], values: Any) -> Any:
    """`f` applied to the arrays in nested arguments."""
    if isinstance(values, _NESTED):
        return type(values)([map_arrays(f, v) for v in values])
    if isinstance(values, dict):
        return {k: map_arrays(f, v) for k, v in values.items()}
    return f(values)


def align_runs(value: Any, ndim: int) -> Any:
    """Runs of `value` with axes added behind the first, so that they broadcast as the values do."""
    if not hasattr(value, "runs"):
        return value
    return value.runs.reshape(value.runs.shape[0], *(1,) * (ndim - value.ndim), *value.shape)


def source_of(*values: Any) -> Any:
    """The source of noise of the first noisy array."""
    return next(v.source for v in values if hasattr(v, "runs"))


def accumulate_error(total: Any, squares: Any, terms: Any) -> Any:
    """RMS rounding error, in roundings, of a sequential sum of `terms` terms (derived at the head of array.py)."""
    size = np.square(total)
    size /= 3
    size += squares / 2
    size *= np.where(np.asarray(terms) > 1, terms, 0)
    return np.sqrt(size)


def _axes_of(x: Any, axis: Any) -> tuple[int, ...]:
    if axis is None or not x.ndim:  # of a number NumPy takes 0 and -1 for an axis
        return tuple(range(x.ndim))
    return tuple(a % x.ndim for a in ((axis,) if isinstance(axis, int | np.integer) else axis))


def _count_terms(x: Any, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[a] for a in axes)


def _sum(x: Any, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Any:
    axes = _axes_of(x, axis)
    exact = np.sum(x.exact, axis=axes, keepdims=keepdims)
    runs = np.sum(x.runs, axis=tuple(a + 1 for a in axes), keepdims=keepdims)
    squares = np.sum(np.square(x.exact), axis=axes, keepdims=keepdims)
    size = accumulate_error(exact, squares, x.source.count_terms(_count_terms(x, axes)))
    if x.source.narrow or x.source.double:
        kept = tuple(a for a in range(x.ndim) if a not in axes)
        rows = np.transpose(x.exact, kept + axes).reshape(*(x.shape[a] for a in kept), _count_terms(x, axes))
        measured = (
            measure_lean_of_doubles(rows) if x.source.double else measure_lean(rows, exact.reshape(rows.shape[:-1]))
        )
        size = np.maximum(size, np.reshape(measured, np.shape(exact)))
    return x.source.summed(exact, runs, size)


def _take_mean(x: Any, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Any:
    total, terms = _sum(x, axis, keepdims=keepdims), _count_terms(x, _axes_of(x, axis))
    if terms == 1:  # rounded once all the same: implementations fold x - mean(x) into x a - mean(x) a
        return x.source.noisy(total.exact, x.source.rounded(total.runs, total.exact))
    return total / terms


def _multiply_elements(x: Any, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Any:
    axes = _axes_of(x, axis)
    exact = np.prod(x.exact, axis=axes, keepdims=keepdims)
    runs = np.prod(x.runs, axis=tuple(a + 1 for a in axes), keepdims=keepdims)
    return x.source.summed(exact, runs, np.abs(exact) * math.sqrt(max(_count_terms(x, axes) - 1, 0)))


def _count_along(x: Any, axis: int) -> Floats:
    shape = [1] * x.ndim
    shape[axis] = -1
    return np.arange(1, x.shape[axis] + 1).reshape(shape)


def _accumulate_sum(x: Any, axis: int = 0, **_: Any) -> Any:
    axis %= x.ndim
    exact, squares = np.cumsum(x.exact, axis=axis), np.cumsum(np.square(x.exact), axis=axis)
    runs = np.cumsum(x.runs, axis=axis + 1)
    size = accumulate_error(exact, squares, _count_along(x, axis))
    if x.source.narrow:
        size = np.maximum(size, lean_of_scan(x.exact, exact, axis))
    return x.source.summed(exact, runs, size)


def _accumulate_product(x: Any, axis: int = 0, **_: Any) -> Any:
    """Every product so far was rounded: by a share of itself, or, below the smallest normal number, of that."""
    axis %= x.ndim
    exact, runs = np.cumprod(x.exact, axis=axis), np.cumprod(x.runs, axis=axis + 1)
    sizes = np.abs(exact)
    small = (sizes > 0) & (sizes < x.source.tiny)
    if not small.any():
        return x.source.summed(exact, runs, sizes * np.sqrt(_count_along(x, axis) - 1))
    shares = np.minimum(np.divide(x.source.tiny, sizes, out=np.ones_like(sizes), where=small), GONE_ROUNDOFFS)
    squares = np.square(shares)
    lost = np.cumsum(squares, axis=axis) - np.take(squares, [0], axis=axis)
    return x.source.summed(exact, runs, sizes * np.sqrt(lost))


def _log_sums(x: Any, axis: int = 0, **_: Any) -> Any:
    """Scans by logaddexp: every y so far was rounded, log(k) + its row's largest x too, as those who sum exp do it.

    What was lost at the term j is worth exp(y_j - y_k) at k, so that of equal terms a third of the squares is left.
    """
    axis %= x.ndim
    exact = np.logaddexp.accumulate(x.exact, axis=axis)
    y = np.where(np.isfinite(exact), exact, 0)
    lost = np.logaddexp.accumulate(np.where(np.isfinite(exact), 2 * y + np.log1p(np.square(y)), -np.inf), axis=axis)
    top = np.where(np.isfinite(exact), np.maximum.accumulate(x.exact, axis=axis), 0)
    size = np.sqrt(np.exp(lost - 2 * y) + np.square(top) + np.square(y - top))
    if x.source.narrow:
        size = np.maximum(size, lean_of_scan(x.exact, exact, axis, np.logaddexp))
    return x.source.summed(exact, np.logaddexp.accumulate(x.runs, axis=axis + 1), size)


def of_two_exponentials(a: Floats, b: Floats, exact: Floats) -> Floats:
    """Roundings, of 1, on the way to log(exp(a) + exp(b)): of 1 + exp(-|a - b|), a sum without log1p, and its log.

    Blanchard, Higham, Higham (2021), algorithm 3.1 with two terms: `_log_sums` has the same of more.
    """
    rest = np.where(np.isfinite(exact), exact - np.maximum(a, b), 0)
    return np.where(np.isfinite(exact), np.hypot(1, rest), 0)


def _log_sum(x: Any, axis: int = 0, *, keepdims: bool = False, **_: Any) -> Any:
    """A reduction by logaddexp is the last of its scan; -inf over no elements."""
    axis %= x.ndim
    if x.shape[axis]:
        last = np.take(_log_sums(x, axis), [-1], axis=axis)
    else:
        last = x.source.wrap(np.full([1 if a == axis else n for a, n in enumerate(x.shape)], -np.inf))
    return last if keepdims else np.squeeze(last, axis=axis)


def _make_extreme_rule(largest: bool) -> Callable[..., Any]:
    pick = np.argmax if largest else np.argmin

    def reduce(x: Any, axis: Any = None, *, keepdims: bool = False, initial: float | None = None, **_: Any) -> Any:
        axes = _axes_of(x, axis)
        if initial is not None and not _count_terms(x, axes):
            empty = np.max(x.exact, axis=axes, keepdims=keepdims, initial=initial)
            return x.source.wrap(empty)
        kept = tuple(a for a in range(x.ndim) if a not in axes)
        shape = tuple(x.shape[a] for a in kept)
        flat: Any = np.reshape(np.transpose(x, kept + axes), (*shape, _count_terms(x, axes)))
        where = pick(flat.exact, axis=-1)[..., None]
        chosen = np.take_along_axis(flat, where, axis=-1)
        final = tuple(1 if a in axes else n for a, n in enumerate(x.shape)) if keepdims else shape
        return np.reshape(chosen, final)

    return reduce


def _clip(x: Any, a_min: Any = None, a_max: Any = None, **_: Any) -> Any:
    low = x if a_min is None else np.maximum(x, a_min)
    return low if a_max is None else np.minimum(low, a_max)


def multiply_matrices(a: Any, b: Any) -> Any:
    """np.matmul of arrays of which one at least is noisy."""
    if np.ndim(a) == 1 or np.ndim(b) == 1:
        wide_a = np.reshape(a, (1, -1)) if np.ndim(a) == 1 else a
        wide_b = np.reshape(b, (-1, 1)) if np.ndim(b) == 1 else b
        wide = multiply_matrices(wide_a, wide_b)
        drop = ((-2,) if np.ndim(a) == 1 else ()) + ((-1,) if np.ndim(b) == 1 else ())
        return np.squeeze(wide, axis=drop)
    source, ea, eb = source_of(a, b), exact_of(a), exact_of(b)
    exact = np.matmul(ea, eb)
    runs = np.matmul(align_runs(a, exact.ndim), align_runs(b, exact.ndim))
    terms = source.count_terms(ea.shape[-1]) if ea.shape[-1] != 1 else 2
    size = accumulate_error(exact, np.matmul(np.square(ea), np.square(eb)), terms)
    if source.narrow:
        size = np.maximum(size, lean_of_products(ea, eb, exact))
    return source.summed(exact, runs, size)


def _compute_einsum(spec: str, *operands: Any, **_: Any) -> Any:
    left, right = spec.replace(" ", "").split("->")
    source = source_of(*operands)
    exact = np.einsum(spec, *map(exact_of, operands))
    labels = left.split(",")
    sizes: dict[str, int] = {}
    for label, operand in zip(labels, operands, strict=True):
        named = label.replace("...", "")
        behind = label.partition("...")[2] if "..." in label else named
        shape = np.shape(operand)
        before = named[: len(named) - len(behind)]
        sizes.update(zip(before, shape, strict=False))
        sizes.update(zip(behind, shape[len(shape) - len(behind) :], strict=True))
    terms = math.prod(n for label, n in sizes.items() if label not in right)
    marked = ",".join("Z" + s if hasattr(o, "runs") else s for s, o in zip(labels, operands, strict=True))
    runs = np.einsum(f"{marked}->Z{right}", *(o.runs if hasattr(o, "runs") else o for o in operands))
    squares = np.einsum(spec, *(np.square(exact_of(o)) for o in operands))
    return source.summed(exact, runs, accumulate_error(exact, squares, source.count_terms(max(terms, 2))))


def add_at(target: Any, index: Any, values: Any) -> None:
    """np.add.at into a noisy array."""
    shape, plain = target.shape, exact_of(values)
    squares, terms = np.square(target.exact), np.ones(shape)
    np.add.at(squares, index, np.square(plain))
    np.add.at(terms, index, np.ones(np.shape(plain)))
    np.add.at(target.exact, index, plain)
    for i, run in enumerate(target.runs):
        np.add.at(run, index, run_of(values, i))
    added = np.size(plain)
    terms *= target.source.count_terms(added) / max(added, 1)
    target.runs[...] = target.source.absolute(target.runs, accumulate_error(target.exact, squares, terms))


#: Reductions by ufunc, and functions by NumPy function.
REDUCE: dict[Any, Callable[..., Any]] = {
    np.add: _sum,
    np.multiply: _multiply_elements,
    np.maximum: _make_extreme_rule(largest=True),
    np.minimum: _make_extreme_rule(largest=False),
    np.logaddexp: _log_sum,
}
#: Scans by ufunc.
SCANS: dict[Any, Callable[..., Any]] = {
    np.add: _accumulate_sum,
    np.multiply: _accumulate_product,
    np.logaddexp: _log_sums,
}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _sum,
    np.mean: _take_mean,
    np.prod: _multiply_elements,
    np.cumsum: _accumulate_sum,
    np.cumprod: _accumulate_product,
    np.max: _make_extreme_rule(largest=True),
    np.min: _make_extreme_rule(largest=False),
    np.sort: lambda x, axis=-1, **_: np.take_along_axis(x, np.argsort(x.exact, axis=axis, kind="stable"), axis=axis),
    np.clip: _clip,
    np.einsum: _compute_einsum,
    np.outer: lambda a, b: np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1)),
    np.dot: multiply_matrices,
    np.real: lambda x: x.real,
    np.imag: lambda x: x.imag,
    np.square: lambda x: x * x,
}


#: Terms below which no bias is larger than the noise; how many of a row are looked at, that many of them differ, or so
#: many are one number: half of a row of softmax is exp(0), where half of its input is 0.
_MIN_BIASED_TERMS = 64
_MAX_LOOKED_TERMS = 256
_MAX_DIFFERENT_SHARE = 1 / 4
_MIN_EQUAL_SHARE = 1 / 4
#: Roundoffs of a sequential sum that make one unit: an honest sum has an RMS of 2 then.
_ROUNDOFFS_PER_UNIT = 2.0
#: Multiplications beyond which a product of matrices is not made term after term.
_MAX_MULTIPLICATIONS = 2**24
_FLOAT32_U = DTYPES["f32"].u
_FLOAT64_U = DTYPES["f64"].u


def has_ties(terms: Floats) -> bool:
    """Whether rows (..., n) hold few different numbers, or one often; of the first, the middle and the last row."""
    count = terms.shape[-1]
    if count < _MIN_BIASED_TERMS or not terms.size or terms.dtype.kind != "f":
        return False
    rows = terms.reshape(-1, count)
    some = (rows[i, :_MAX_LOOKED_TERMS] for i in {0, len(rows) // 2, len(rows) - 1})
    return any(_is_tied(row) for row in some)


def _is_tied(row: Floats) -> bool:
    numbers, counts = np.unique(row, return_counts=True)
    often = counts[numbers != 0].max(initial=0)  # nothing is rounded where 0 is added
    return len(numbers) <= _MAX_DIFFERENT_SHARE * len(row) or often >= _MIN_EQUAL_SHARE * len(row)


def measure_lean(terms: Floats, exact: Floats) -> Floats:
    """Roundings that account for the error of sums (...) of rows (..., n) in float32; 0 where none are tied."""
    if not has_ties(terms):
        return np.zeros(exact.shape)
    narrow = terms.astype(np.float32)
    forwards, backwards = (np.add.accumulate(narrow[..., ::step], axis=-1)[..., -1] for step in (1, -1))
    return np.asarray(np.maximum(_count_roundings(forwards, exact), _count_roundings(backwards, exact)))


def measure_lean_of_doubles(terms: Floats) -> Floats:
    """The same of sums in float64: what is drawn has 16 binary places, and terms made of it are cut off alike."""
    if terms.shape[-1] < _MIN_BIASED_TERMS or not terms.size or terms.dtype.kind != "f":
        return np.zeros(terms.shape[:-1])
    exact = np.sum(terms, axis=-1, dtype=np.longdouble)
    ends = (np.add.accumulate(terms[..., ::step], axis=-1)[..., -1] for step in (1, -1))
    off = np.maximum(*(np.abs(end - exact) for end in ends)).astype(np.float64)
    return np.asarray(np.nan_to_num(off / (_FLOAT64_U * _ROUNDOFFS_PER_UNIT), nan=0.0, posinf=0.0))


def lean_of_scan(terms: Floats, exact: Floats, axis: int, added: np.ufunc = np.add) -> Floats | float:
    """The same of every partial sum along an axis, by `added`."""
    if not has_ties(np.moveaxis(terms, axis, -1)):
        return 0.0
    return _count_roundings(added.accumulate(terms.astype(np.float32), axis=axis), exact)


def lean_of_products(a: Floats, b: Floats, exact: Floats) -> Floats | float:
    """The same of a product of matrices (..., m, k) and (..., k, n)."""
    if exact.size * a.shape[-1] > _MAX_MULTIPLICATIONS or not (has_ties(a) and has_ties(np.swapaxes(b, -1, -2))):
        return 0.0
    left, right = a.astype(np.float32), b.astype(np.float32)
    total = np.zeros(exact.shape, np.float32)
    for k in range(a.shape[-1]):
        total += left[..., :, k, None] * right[..., None, k, :]
    return _count_roundings(total, exact)


def _count_roundings(narrow: Floats, exact: Floats) -> Floats:
    return np.asarray(np.nan_to_num(np.abs(narrow - exact) / (_FLOAT32_U * _ROUNDOFFS_PER_UNIT), nan=0.0, posinf=0.0))
