"""Noisy arithmetic: the reference measures its own rounding error.

A `Noisy` array carries the exact float64 values and a stack of runs in which the result of every
operation that rounds was multiplied by (1 + delta xi), xi standard normal (Monte Carlo arithmetic,
Parker 1997; CESTAC and Verificarlo do the same with real roundings). The deviation of the runs
from the exact values, divided by delta, is the error that honest rounding causes, in units of the
roundoff. Normal xi rather than +-1: with signs alone, independent roundings cancel exactly in some
elements.

Every comparison and selection is decided on the exact values, so noise never flips a branch.
A sum of n terms t, sequentially accumulated, has partial sums s_k, and its rounding errors add
up to about u sqrt(sum s_k^2); for terms of mean m and spread d that is n (S^2/3 + sum t^2 / 2)
under the root, S the sum. So the noise of sums and contractions grows with sqrt(n), as honest
sequential accumulation does (see docs/method.md for the measurement).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from opproof.harness.noise_rules import CREATES, DECIDED, EXACT_UFUNCS, MOVES, STEPS

Floats = NDArray[Any]


@dataclass(frozen=True)
class Source:
    """Where noise comes from: how many runs, and the amplitudes of one interior rounding."""

    rng: np.random.Generator
    runs: int
    amplitude: float
    summing: float  # amplitude of one addition of a sum or contraction
    tiny: float = 0.0  # smallest normal number of interior arithmetic: below it rounding is absolute

    def rounded(self, runs: Floats, exact: Floats) -> Floats:
        """`runs` of the values `exact`, each rounded once; exact zeros stay."""
        size = np.abs(exact)
        if self.tiny and size.size and float(np.min(size)) < self.tiny:
            size = np.where(size == 0, 0.0, np.maximum(size, self.tiny))
            return runs + (self.amplitude * size) * self.rng.standard_normal(runs.shape)  # type: ignore[no-any-return]
        return runs * (1 + self.amplitude * self.rng.standard_normal(runs.shape))  # type: ignore[no-any-return]

    def absolute(self, runs: Floats, size: Floats | float) -> Floats:
        """`runs` with the noise of `size` additions."""
        xi = self.rng.standard_normal(runs.shape)
        return runs + (self.summing * np.asarray(size)) * xi  # type: ignore[no-any-return]

    def summed(self, exact: Floats, runs: Floats, size: Floats | float) -> Noisy:
        """A sum that committed `size` roundings, rounded once more where sums are more precise than what is stored."""
        noisy = self.absolute(runs, size)
        return Noisy(exact, self.rounded(noisy, exact) if self.summing < self.amplitude else noisy, self)

    def wrap(self, exact: Floats, amplitude: float | None = None) -> Noisy:
        """`exact` as a noisy array, each element rounded once at `amplitude` (interior when None)."""
        exact = np.asarray(exact, dtype=np.float64)
        runs = np.broadcast_to(exact, (self.runs, *exact.shape))
        delta = self.amplitude if amplitude is None else amplitude
        return Noisy(exact, runs * (1 + delta * self.rng.standard_normal(runs.shape)), self)


class Noisy(NDArrayOperatorsMixin):
    """An array for NumPy's dispatch that carries exact values and noisy runs (axis 0 of `runs`)."""

    __slots__ = ("exact", "runs", "source")

    def __init__(self, exact: Any, runs: Any, source: Source) -> None:
        self.exact: Floats = np.asarray(exact)
        self.runs: Floats = runs
        self.source = source

    shape = property(lambda self: self.exact.shape)
    ndim = property(lambda self: self.exact.ndim)
    size = property(lambda self: self.exact.size)
    dtype = property(lambda self: self.exact.dtype)
    T = property(lambda self: np.transpose(self))
    real = property(lambda self: self)

    def __len__(self) -> int:
        return len(self.exact)

    def __getitem__(self, index: Any) -> Noisy:
        exact = self.exact[index]
        return Noisy(exact, np.stack([r[index] for r in self.runs]), self.source)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.exact[index] = _exact(value)
        for i, run in enumerate(self.runs):
            run[index] = _run(value, i)

    def astype(self, dtype: Any, copy: bool = True) -> Noisy:
        del dtype
        return Noisy(self.exact.copy(), self.runs.copy(), self.source) if copy else self

    def reshape(self, *shape: Any) -> Noisy:
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)  # type: ignore[no-any-return, call-overload]

    def copy(self) -> Noisy:
        return self.astype(None)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a noisy array was put into a plain one; make the array with np.zeros(shape, like=x).")

    def __bool__(self) -> bool:
        return bool(self.exact)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if method == "at":
            return _add_at(*inputs) if ufunc is np.add else NotImplemented
        if method == "reduce" and ufunc in _REDUCE:
            return _REDUCE[ufunc](*inputs, **{k: v for k, v in kwargs.items() if v is not None})
        if method != "__call__":
            return NotImplemented
        if ufunc in DECIDED:
            return ufunc(*map(_exact, inputs), **kwargs)
        result = _call(ufunc, inputs, kwargs)
        if out is None:
            return result
        target: Noisy = out[0]
        target.exact[...], target.runs[...] = result.exact, result.runs
        return target

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if func in DECIDED:
            return func(*_map(_exact, args), **_map(_exact, kwargs))
        if func in CREATES:
            exact = func(*_map(_exact, args), **kwargs)
            return Noisy(exact, np.repeat(exact[None], self.source.runs, axis=0), self.source)
        if func in MOVES:
            return _each_run(func, args, kwargs, self.source)
        if func in _FUNCTIONS:
            return _FUNCTIONS[func](*args, **kwargs)
        raise TypeError(f"np.{func.__name__} is unknown to noisy arithmetic; classify it in harness/noise_rules.py.")


def _exact(value: Any) -> Any:
    return value.exact if isinstance(value, Noisy) else value


def _run(value: Any, i: int) -> Any:
    return value.runs[i] if isinstance(value, Noisy) else value


def _map(f: Callable[[Any], Any], values: Any) -> Any:
    """Apply `f` to the arrays in nested arguments."""
    if isinstance(values, dict):
        return {k: _map(f, v) for k, v in values.items()}
    if isinstance(values, list | tuple):
        return type(values)(_map(f, v) for v in values)
    return f(values)


def _source(*values: Any) -> Source:
    return next(v.source for v in values if isinstance(v, Noisy))


def _each_run(func: Callable[..., Any], args: Any, kwargs: Any, source: Source) -> Any:
    exact = func(*_map(_exact, args), **_map(_exact, kwargs))
    runs = [
        func(*_map(lambda v, i=i: _run(v, i), args), **_map(lambda v, i=i: _run(v, i), kwargs))
        for i in range(source.runs)
    ]
    if isinstance(exact, list | tuple):
        return [Noisy(e, np.stack([r[k] for r in runs]), source) for k, e in enumerate(exact)]
    return Noisy(exact, np.stack(runs), source)


def _aligned(value: Any, ndim: int) -> Any:
    """Runs of `value` with axes added behind the first, so that they broadcast as the values do."""
    if not isinstance(value, Noisy):
        return value
    return value.runs.reshape(value.runs.shape[0], *(1,) * (ndim - value.ndim), *value.shape)


def _power_of_two(value: Any) -> bool:
    """Whether multiplying or dividing by `value` rounds nothing."""
    if isinstance(value, Noisy) or np.ndim(value) != 0 or isinstance(value, np.ndarray):
        return False
    return value == 0 or (math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5)


def _call(ufunc: np.ufunc, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Noisy:
    source = _source(*inputs)
    if ufunc is np.matmul:
        return _matmul(*inputs)
    exact = ufunc(*map(_exact, inputs), **kwargs)
    if ufunc in STEPS:
        return Noisy(exact, np.repeat(np.asarray(exact)[None], source.runs, axis=0), source)
    ndim = np.ndim(exact)
    if ufunc in (np.maximum, np.minimum, np.fmax, np.fmin):
        first = np.broadcast_to(np.asarray(exact) == _exact(inputs[0]), np.shape(exact))
        a, b = (_aligned(v, ndim) for v in inputs)
        return Noisy(exact, np.where(first, *np.broadcast_arrays(a, b)), source)
    runs = ufunc(*(_aligned(v, ndim) for v in inputs), **kwargs)
    free = ufunc in EXACT_UFUNCS or (ufunc in (np.multiply, np.divide) and _power_of_two(inputs[1]))
    free = free or (ufunc is np.multiply and _power_of_two(inputs[0]))
    return Noisy(exact, runs if free else source.rounded(runs, np.asarray(exact)), source)


def _accumulated(total: Any, squares: Any, terms: Any) -> Any:
    """RMS rounding error, in roundings, of a sequential sum of `terms` terms (module docstring)."""
    return np.sqrt(np.where(np.asarray(terms) > 1, terms, 0) * (np.square(total) / 3 + squares / 2))


def _axes(x: Noisy, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(a % x.ndim for a in ((axis,) if isinstance(axis, int | np.integer) else axis))


def _terms(x: Noisy, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[a] for a in axes)


def _sum(x: Any, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Noisy:
    axes = _axes(x, axis)
    exact = np.sum(x.exact, axis=axes, keepdims=keepdims)
    runs = np.sum(x.runs, axis=tuple(a + 1 for a in axes), keepdims=keepdims)
    squares = np.sum(np.square(x.exact), axis=axes, keepdims=keepdims)
    return x.source.summed(exact, runs, _accumulated(exact, squares, _terms(x, axes)))


def _mean(x: Any, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Any:
    total, terms = _sum(x, axis, keepdims=keepdims), _terms(x, _axes(x, axis))
    if terms == 1:  # rounded once all the same: implementations fold x - mean(x) into x a - mean(x) a
        return Noisy(total.exact, x.source.rounded(total.runs, total.exact), x.source)
    return total / terms


def _prod(x: Any, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Noisy:
    axes = _axes(x, axis)
    exact = np.prod(x.exact, axis=axes, keepdims=keepdims)
    runs = np.prod(x.runs, axis=tuple(a + 1 for a in axes), keepdims=keepdims)
    return x.source.summed(exact, runs, np.abs(exact) * math.sqrt(max(_terms(x, axes) - 1, 0)))


def _counting(x: Noisy, axis: int) -> Floats:
    shape = [1] * x.ndim
    shape[axis] = -1
    return np.arange(1, x.shape[axis] + 1).reshape(shape)


def _cumsum(x: Any, axis: int = 0, **_: Any) -> Noisy:
    axis %= x.ndim
    exact, squares = np.cumsum(x.exact, axis=axis), np.cumsum(np.square(x.exact), axis=axis)
    runs = np.cumsum(x.runs, axis=axis + 1)
    return x.source.summed(exact, runs, _accumulated(exact, squares, _counting(x, axis)))


def _cumprod(x: Any, axis: int = 0, **_: Any) -> Noisy:
    axis %= x.ndim
    exact, runs = np.cumprod(x.exact, axis=axis), np.cumprod(x.runs, axis=axis + 1)
    return x.source.summed(exact, runs, np.abs(exact) * np.sqrt(_counting(x, axis) - 1))


def _extreme(largest: bool) -> Callable[..., Noisy]:
    pick = np.argmax if largest else np.argmin

    def reduce(x: Noisy, axis: Any = None, *, keepdims: bool = False, **_: Any) -> Noisy:
        axes = _axes(x, axis)
        kept = tuple(a for a in range(x.ndim) if a not in axes)
        shape = tuple(x.shape[a] for a in kept)
        flat = np.reshape(np.transpose(x, kept + axes), (*shape, _terms(x, axes)))
        where = pick(flat.exact, axis=-1)[..., None]
        chosen = np.take_along_axis(flat, where, axis=-1)
        final = tuple(1 if a in axes else n for a, n in enumerate(x.shape)) if keepdims else shape
        return np.reshape(chosen, final)

    return reduce


def _sort(x: Any, axis: int = -1, **_: Any) -> Any:
    return np.take_along_axis(x, np.argsort(x.exact, axis=axis, kind="stable"), axis=axis)


def _clip(x: Any, a_min: Any = None, a_max: Any = None, **_: Any) -> Any:
    low = x if a_min is None else np.maximum(x, a_min)
    return low if a_max is None else np.minimum(low, a_max)


def _matmul(a: Any, b: Any) -> Noisy:
    if np.ndim(a) == 1 or np.ndim(b) == 1:
        wide_a = np.reshape(a, (1, -1)) if np.ndim(a) == 1 else a
        wide_b = np.reshape(b, (-1, 1)) if np.ndim(b) == 1 else b
        wide = _matmul(wide_a, wide_b)
        drop = ((-2,) if np.ndim(a) == 1 else ()) + ((-1,) if np.ndim(b) == 1 else ())
        return np.squeeze(wide, axis=drop)
    source, ea, eb = _source(a, b), _exact(a), _exact(b)
    exact = np.matmul(ea, eb)
    runs = np.matmul(_aligned(a, exact.ndim), _aligned(b, exact.ndim))
    size = _accumulated(exact, np.matmul(np.square(ea), np.square(eb)), ea.shape[-1] if ea.shape[-1] != 1 else 2)
    return source.summed(exact, runs, size)


def _einsum(spec: str, *operands: Any, **_: Any) -> Noisy:
    left, _, right = spec.replace(" ", "").partition("->")
    source = _source(*operands)
    exact = np.einsum(spec, *map(_exact, operands))
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
    marked = ",".join("Z" + s if isinstance(o, Noisy) else s for s, o in zip(labels, operands, strict=True))
    runs = np.einsum(f"{marked}->Z{right}", *(o.runs if isinstance(o, Noisy) else o for o in operands))
    squares = np.einsum(spec, *(np.square(_exact(o)) for o in operands))
    return source.summed(exact, runs, _accumulated(exact, squares, max(terms, 2)))


def _add_at(target: Noisy, index: Any, values: Any) -> None:
    shape, plain = target.shape, _exact(values)
    squares, terms = np.square(target.exact), np.ones(shape)
    np.add.at(squares, index, np.square(plain))
    np.add.at(terms, index, np.ones(np.shape(plain)))
    np.add.at(target.exact, index, plain)
    for i, run in enumerate(target.runs):
        np.add.at(run, index, _run(values, i))
    target.runs[...] = target.source.absolute(target.runs, _accumulated(target.exact, squares, terms))


_REDUCE: dict[Any, Callable[..., Any]] = {
    np.add: _sum,
    np.multiply: _prod,
    np.maximum: _extreme(largest=True),
    np.minimum: _extreme(largest=False),
}
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _sum,
    np.mean: _mean,
    np.prod: _prod,
    np.cumsum: _cumsum,
    np.cumprod: _cumprod,
    np.max: _extreme(largest=True),
    np.min: _extreme(largest=False),
    np.sort: _sort,
    np.clip: _clip,
    np.einsum: _einsum,
    np.outer: lambda a, b: np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1)),
    np.dot: lambda a, b: _matmul(a, b),
    np.real: lambda x: x,
    np.square: lambda x: x * x,
}
