"""Fourier transforms and dense linear algebra of noisy arrays.

A transform is a sum of n terms per element, and errs like one. A factorisation is backward stable: its result is exact
for a matrix off by roundings of its rows, so that an ill-conditioned one shows its condition. Eigenvalues and singular
values are stable for the whole matrix alone, as reference/torch/linear_algebra.py says. Eigenvectors and singular
vectors, whose signs and order are free, have no rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.harness.reference.montecarlo.sums import accumulate_error, exact_of, run_of, source_of

Rule = Callable[..., Any]

_NAMES = "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split()
_BY_ELIMINATION = "inv solve det".split()
_STABLE_AS_A_WHOLE = "eigvalsh svdvals".split()


def _transform(name: str) -> Rule:
    func, inverse, several = getattr(np.fft, name), name[0] == "i", name[-1] in "2n"
    axes = None if name[-1] == "n" else (-2, -1) if several else (-1,)

    def rule(x: Any, size: Any = None, over: Any = None, norm: str | None = None, **named: Any) -> Any:
        size, over = named.get("s" if several else "n", size), named.get("axes" if several else "axis", over)
        chosen = _choose_axes(x.ndim, axes if over is None else over, size)
        given = (size, chosen, norm) if several else (size, chosen[0], norm)
        exact = func(x.exact, *given)
        runs = np.stack([func(run, *given) for run in x.runs])
        count = math.prod(max(exact.shape[a], x.shape[a]) for a in chosen)
        factor = {"ortho": count**-0.5, "forward": 1.0}.get(norm or "", 1 / count)
        factor = factor if inverse or norm == "ortho" else (1 / count if norm == "forward" else 1.0)
        squares = 2 * np.sum(np.square(np.abs(x.exact)), axis=chosen, keepdims=True) * factor**2
        return x.source.summed(exact, runs, accumulate_error(np.abs(exact), squares, max(count, 2)))

    return rule


def _choose_axes(ndim: int, over: Any, size: Any) -> tuple[int, ...]:
    if over is None:
        over = range(ndim) if size is None else range(-len(size), 0)
    return tuple(int(a) for a in ((over,) if isinstance(over, int | np.integer) else over))


def _measure_rows(plain: Any) -> Any:
    """Sizes of the rows of matrices: by a rounding of that each element is off."""
    return np.sqrt(np.sum(np.square(plain), axis=-1, keepdims=True))


def _measure_elimination(plain: Any) -> Any:
    """Sizes of what Gaussian elimination rounds: of rows, and of the products L U, |L| |U| of which may be far larger.

    A row of which one element is large leaves its rounding in others (Higham, Accuracy and Stability, theorem 9.3).
    """
    rows = np.broadcast_to(_measure_rows(plain), plain.shape)
    if not plain.size or not np.isfinite(plain).all():
        return rows
    import scipy.linalg  # slow to import, and few operators ask for it

    lower, upper = scipy.linalg.lu(plain, permute_l=True, check_finite=False)
    return np.maximum(rows, np.sqrt(np.matmul(np.square(lower), np.square(upper))))


def _make_factorisation_rule(func: Callable[..., Any], measure: Callable[[Any], Any] = _measure_rows) -> Rule:
    """A backward stable function of matrices: of the first argument, by sizes that `measure` gives, and of others,
    elementwise.
    """

    def rule(*args: Any, **named: Any) -> Any:
        source = source_of(*args)
        exact = func(*map(exact_of, args), **named)
        sizes = [(np.abs if k else measure)(exact_of(v)) if hasattr(v, "runs") else None for k, v in enumerate(args)]
        runs = []
        for i in range(source.runs):
            disturbed = [_off(source, run_of(v, i), v, size) for v, size in zip(args, sizes, strict=True)]
            runs.append(np.asarray(func(*disturbed, **named)))
        return source.noisy(np.asarray(exact), source.rounded(np.stack(runs), np.asarray(exact)))

    return rule


def _make_spectrum_rule(func: Callable[..., Any]) -> Rule:
    """Eigenvalues or singular values: of a matrix all of which is off, each by the size of the largest."""

    def rule(a: Any, *args: Any, **named: Any) -> Any:
        source, plain = a.source, a.exact
        squares = np.sum(np.square(np.abs(plain)), axis=-1, keepdims=True)
        size = np.sqrt(squares + np.mean(squares, axis=-2, keepdims=True)) if plain.size else np.zeros_like(plain)
        moved = source.add_noise(a.runs, source.summing * np.broadcast_to(size, plain.shape))
        exact = np.asarray(func(plain, *args, **named))
        runs = source.rounded(np.stack([func(run, *args, **named) for run in moved]), exact)
        largest = np.max(np.abs(exact), axis=-1, keepdims=True, initial=0.0)
        return source.noisy(exact, source.absolute(runs, np.broadcast_to(largest, exact.shape)))

    return rule


def _compute_pinv(a: Any, *args: Any, **named: Any) -> Any:
    """By singular vectors, so that its zeros are off by the size of the largest; noise on rows of zeros is none."""
    found = _make_factorisation_rule(np.linalg.pinv)(a, *args, **named)
    largest = np.linalg.norm(found.exact, 2, axis=(-2, -1), keepdims=True) if found.exact.size else np.zeros(())
    size = np.broadcast_to(largest, found.exact.shape)
    return found.source.noisy(found.exact, found.source.absolute(found.runs, size))


def _off(source: Any, run: Any, value: Any, size: Any) -> Any:
    """A run of an argument, off by roundings of this size."""
    if not hasattr(value, "runs"):
        return run
    return source.add_noise(run[None], source.summing * np.broadcast_to(size, run.shape))[0]


def _compute_slogdet(x: Any) -> Any:
    """The sign as it is, which no rounding changes, the logarithm with noise."""
    exact = np.linalg.slogdet(x.exact)
    sign = x.source.noisy(exact.sign, np.stack([exact.sign] * x.source.runs))
    rule = _make_factorisation_rule(lambda a: np.linalg.slogdet(a).logabsdet, _measure_elimination)
    return exact._replace(sign=sign, logabsdet=rule(x))


def _compute_norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002 - NumPy's name
    """Of vectors, and Frobenius's of matrices."""
    matrix = axis is not None and not isinstance(axis, int) and len(axis) == 2
    if ord in (None, "fro") or (ord == 2 and not matrix and (axis is not None or x.ndim == 1)):
        return np.sqrt(np.sum(np.abs(x) * np.abs(x), axis=axis, keepdims=keepdims))
    if matrix or (axis is None and x.ndim > 1):
        return _make_factorisation_rule(lambda a: np.linalg.norm(a, ord, axis, keepdims))(x)
    if ord == math.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    return np.power(np.sum(np.power(np.abs(x), ord), axis=axis, keepdims=keepdims), 1 / ord)


#: By NumPy function.
TRANSFORMS: dict[Any, Rule] = {
    **{getattr(np.fft, name): _transform(name) for name in _NAMES},
    **{
        getattr(np.linalg, name): _make_factorisation_rule(getattr(np.linalg, name), _measure_elimination)
        for name in _BY_ELIMINATION
    },
    np.linalg.cholesky: _make_factorisation_rule(np.linalg.cholesky),
    **{getattr(np.linalg, name): _make_spectrum_rule(getattr(np.linalg, name)) for name in _STABLE_AS_A_WHOLE},
    np.linalg.pinv: _compute_pinv,
    np.linalg.slogdet: _compute_slogdet,
    np.linalg.norm: _compute_norm,
}
