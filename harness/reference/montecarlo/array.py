"""Noisy arithmetic: the reference measures its own rounding error, by NumPy functions that round, move or decide.

A `NoisyArray` carries the exact float64 values and a stack of runs in which the result of every operation that rounds
was multiplied by (1 + delta xi), xi standard normal (Monte Carlo arithmetic, Parker 1997). The deviation of the runs,
divided by delta, is the error of honest rounding. Normal xi, for with signs alone independent roundings cancel exactly
in some elements. Comparisons and selections are decided on the exact values. A function without a rule is refused.

A sum of n terms t, sequentially accumulated, has partial sums s_k, and its rounding errors add up to about u sqrt(sum
s_k^2); for terms of mean m and spread d that is n (S^2/3 + sum t^2 / 2) under the root, S the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from opproof.core.errors import OpError
from opproof.harness.reference.montecarlo.moves import assign, index_runs, move_runs
from opproof.harness.reference.montecarlo.sums import (
    FUNCTIONS,
    REDUCE,
    SCANS,
    add_at,
    align_runs,
    exact_of,
    map_arrays,
    multiply_matrices,
    of_two_exponentials,
)
from opproof.harness.reference.montecarlo.transforms import TRANSFORMS

Floats = NDArray[Any]
_RULES = {**FUNCTIONS, **TRANSFORMS}
_OF_METHODS = {"reduce": REDUCE, "accumulate": SCANS}


class Draws(Protocol):
    """Draws of standard deviation 1."""

    def added(self, runs: Floats, size: Floats | float, /) -> Floats:
        """`runs` with draws times `size`, which broadcasts to one run, in a new array."""
        ...


@dataclass(frozen=True)
class Source:
    """Where noise comes from: how many runs, and the amplitudes of one interior rounding."""

    draws: Draws
    runs: int
    amplitude: float
    summing: float  # amplitude of one addition of a sum or contraction
    tiny: float = 0.0  # smallest normal number of interior arithmetic: below it rounding is absolute
    narrow: bool = False  # sums are accumulated in float32, so that equal terms lean to one side
    double: bool = False  # in float64, where numbers drawn with fewer digits lean
    multiples: tuple[tuple[int, float], ...] = ()  # a sum of a multiple of so many terms has so many times as many
    storing: tuple[float, float] = (0.0, 0.0)  # amplitude of one store in the dtype, which is absolute below the second

    def count_terms(self, terms: int) -> float:
        """How many terms a sum of `terms` stands for: of data that repeat one period is evaluated."""
        return terms * math.prod(times for period, times in self.multiples if terms % period == 0)

    def rounded(self, runs: Floats, exact: Floats) -> Floats:
        """`runs` of the values `exact`, each rounded once; exact zeros stay."""
        return self.add_noise(runs, _size_of_rounding(exact, self.tiny, self.amplitude))

    def absolute(self, runs: Floats, size: Floats | float) -> Floats:
        """`runs` with the noise of `size` additions."""
        return self.add_noise(runs, self.summing * np.asarray(size))

    def add_noise(self, runs: Floats, size: Floats) -> Floats:
        """`runs` with noise of this size."""
        if runs.dtype.kind == "c":  # either part by itself
            return self.draws.added(runs.real, size) + 1j * self.draws.added(runs.imag, size)
        return self.draws.added(runs, size)

    def noisy(self, exact: Floats, runs: Floats) -> NoisyArray:
        """An array of given exact values and runs."""
        return NoisyArray(exact, runs, self)

    def summed(self, exact: Floats, runs: Floats, size: Floats | float) -> NoisyArray:
        """A sum that committed `size` roundings, rounded once more where sums are more precise than what is stored."""
        noisy = self.absolute(runs, size)
        return NoisyArray(exact, self.rounded(noisy, exact) if self.summing < self.amplitude else noisy, self)

    def wrap(self, exact: Floats) -> NoisyArray:
        """`exact` as a noisy array, each element rounded once."""
        exact = np.asarray(exact, dtype=np.float64)
        runs = np.broadcast_to(exact, (self.runs, *exact.shape))
        return NoisyArray(exact, self.add_noise(runs, _size_of_rounding(exact, 0.0, self.amplitude)), self)


def _size_of_rounding(exact: Floats, tiny: float, amplitude: float) -> Floats:
    """The size of one rounding of the values `exact`: absolute below `tiny`, none of zero and infinity."""
    size = np.absolute(exact, out=np.empty(np.shape(exact)))
    none = np.isinf(size)
    if tiny:
        none |= size == 0
        np.maximum(size, tiny, out=size)
    size *= amplitude
    np.copyto(size, 0.0, where=none)
    return size


class MissingRule(OpError, AttributeError):
    """A method of arrays that has no rule under noise; to `hasattr` it is absent."""


class NoisyArray(NDArrayOperatorsMixin):
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
    T = property(np.transpose)
    real = property(lambda self: self._part("real"))
    imag = property(lambda self: self._part("imag"))

    def __len__(self) -> int:
        return len(self.exact)

    def __getattr__(self, name: str) -> Any:
        """A method of arrays is NumPy's function of the same name."""
        function = getattr(np, name, None)
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"a noisy array has no attribute {name!r}")
        if not callable(function):
            raise MissingRule(_describe_missing_rule(f"the method {name} of arrays"))
        return partial(function, self)

    def flatten(self) -> NoisyArray:
        return self.reshape(-1).copy()

    def transpose(self, *axes: Any) -> NoisyArray:
        result: Any = np.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)
        return result  # type: ignore[no-any-return]

    def __int__(self) -> int:  # decided by the exact value
        return int(self.exact)

    def __float__(self) -> float:
        raise MissingRule(_describe_missing_rule("float() of an element"))

    def __getitem__(self, index: Any) -> NoisyArray:
        return NoisyArray(self.exact[index], index_runs(self.runs, index), self.source)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.exact[index] = exact_of(value)
        assign(self.runs, index, value)

    def store(self) -> NoisyArray:
        """As a backend saves it: rounded to the dtype, to the spacing of subnormals below its range."""
        amplitude, tiny = self.source.storing
        size = _size_of_rounding(self.exact, tiny, amplitude)
        return self.source.noisy(self.exact, self.source.add_noise(self.runs, size))

    def _part(self, name: str) -> NoisyArray:
        """The real or the imaginary part: of a real array itself, or zeros."""
        if name == "real" and not np.iscomplexobj(self.runs):
            return self
        return NoisyArray(getattr(self.exact, name), np.array(getattr(self.runs, name)), self.source)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        if np.dtype(dtype).kind in "iub":  # decided by the exact values
            return self.exact.astype(dtype)
        if np.dtype(dtype) not in (np.float64, np.complex128):
            raise OpError(
                f"it converts to {np.dtype(dtype)}, which rounds: references stay in float64, leave the conversion out."
            )
        if np.dtype(dtype) == np.complex128 and self.exact.dtype != np.complex128:
            return NoisyArray(self.exact.astype(dtype), self.runs.astype(dtype), self.source)
        return NoisyArray(self.exact.copy(), self.runs.copy(), self.source) if copy else self

    def reshape(self, *shape: Any) -> NoisyArray:
        result: Any = np.reshape(self, shape[0] if len(shape) == 1 else shape)
        return result  # type: ignore[no-any-return]

    def copy(self) -> NoisyArray:
        return NoisyArray(self.exact.copy(), self.runs.copy(), self.source)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a noisy array was put into a plain one; make the array with np.zeros(shape, like=x).")

    def __bool__(self) -> bool:
        return bool(self.exact)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if method == "at" and ufunc is np.add:
            return add_at(*inputs)
        if ufunc in (rules := _OF_METHODS.get(method, {})):
            return rules[ufunc](*inputs, **{k: v for k, v in kwargs.items() if v is not None})
        if method != "__call__" or ufunc in JUMPS:
            raise OpError(
                _describe_missing_rule(f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else ""))
            )
        if ufunc in DECIDED:
            return ufunc(*map(exact_of, inputs), **kwargs)
        result = _call(ufunc, inputs, kwargs, self.source)
        if out is None:
            return result
        target: NoisyArray = out[0]
        target.exact[...], target.runs[...] = result.exact, result.runs
        return target

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if func in DECIDED:
            return func(*map_arrays(exact_of, args), **map_arrays(exact_of, kwargs))
        if func in CREATES:
            exact = func(*map_arrays(exact_of, args), **kwargs)
            return NoisyArray(exact, np.repeat(exact[None], self.source.runs, axis=0), self.source)
        if func in MOVES:
            exact = func(*map_arrays(exact_of, args), **map_arrays(exact_of, kwargs))
            runs = move_runs(func, args, kwargs, exact, self.source.runs)
            if isinstance(exact, list | tuple):
                return [NoisyArray(e, r, self.source) for e, r in zip(exact, runs, strict=True)]
            return NoisyArray(exact, runs, self.source)
        if func in _RULES:
            return _RULES[func](*args, **kwargs)
        raise OpError(_describe_missing_rule(f"{func.__module__.replace('numpy', 'np', 1)}.{func.__name__}"))


def _describe_missing_rule(name: str) -> str:
    return (
        f"{name} has no rule under noise: write it with other functions of NumPy, or give the operator as a PyTorch "
        f"function alone (`reference`), or {name} a rule in harness/reference/montecarlo/."
    )


def _power_of_two(value: Any) -> bool:
    """Whether multiplying or dividing by `value` rounds nothing."""
    if isinstance(value, NoisyArray | np.ndarray) or np.ndim(value) != 0:
        return False
    return value == 0 or (math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5)


def _call(ufunc: np.ufunc, inputs: Sequence[Any], kwargs: dict[str, Any], source: Source) -> NoisyArray:
    if ufunc is np.matmul:
        return multiply_matrices(*inputs)  # type: ignore[no-any-return]
    exact = ufunc(*map(exact_of, inputs), **kwargs)
    if ufunc in STEPS:
        return NoisyArray(exact, np.repeat(np.asarray(exact)[None], source.runs, axis=0), source)
    ndim = np.ndim(exact)
    if ufunc in (np.maximum, np.minimum, np.fmax, np.fmin):
        first = np.broadcast_to(np.asarray(exact) == exact_of(inputs[0]), np.shape(exact))
        a, b = (align_runs(v, ndim) for v in inputs)
        return NoisyArray(exact, np.where(first, *np.broadcast_arrays(a, b)), source)
    if ufunc in (np.fmod, np.remainder):  # a - q b without rounding, the integer q of the exact values
        a, b = inputs
        q = np.rint((exact_of(a) - exact) / exact_of(b))
        return NoisyArray(exact, align_runs(a, ndim) - q * align_runs(b, ndim), source)
    runs = ufunc(*(align_runs(v, ndim) for v in inputs), **kwargs)
    if ufunc is np.power and isinstance(inputs[1], NoisyArray):  # of a negative number a noisy exponent is not whole
        size = ufunc(np.abs(align_runs(inputs[0], ndim)), align_runs(inputs[1], ndim), **kwargs)
        runs = np.where((np.asarray(exact_of(inputs[0])) < 0) & np.isfinite(exact), np.copysign(size, exact), runs)
    if ufunc is np.logaddexp:
        a, b = map(exact_of, inputs)
        with np.errstate(invalid="ignore"):
            runs = source.absolute(runs, of_two_exponentials(a, b, exact))
    free = ufunc in EXACT_UFUNCS and not (ufunc is np.absolute and np.iscomplexobj(exact_of(inputs[0])))
    free = free or (ufunc in (np.multiply, np.divide) and _power_of_two(inputs[1]))
    free = free or (ufunc is np.multiply and _power_of_two(inputs[0]))
    return NoisyArray(exact, runs if free else source.rounded(runs, np.asarray(exact)), source)


#: Results taken from the exact values, as plain arrays: comparisons, predicates, positions, shapes.
DECIDED: frozenset[Any] = frozenset(
    {
        *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
        *(np.isnan, np.isinf, np.isfinite, np.signbit, np.logical_and, np.logical_or, np.logical_xor, np.logical_not),
        *(np.argmax, np.argmin, np.argsort, np.argwhere, np.nonzero, np.flatnonzero, np.count_nonzero, np.searchsorted),
        *(np.any, np.all, np.isclose, np.array_equal, np.shape, np.ndim, np.size, np.result_type, np.iscomplexobj),
        *(np.isneginf, np.isposinf, np.bincount, np.unique, np.argpartition, np.lexsort),
    }
)

#: Piecewise constant: the result is that of the exact values, without noise.
STEPS: frozenset[Any] = frozenset({np.sign, np.floor, np.ceil, np.rint, np.trunc, np.floor_divide})

#: Ufuncs that jump, or have several results, and have no rule: refused.
JUMPS: frozenset[Any] = frozenset({np.divmod, np.modf, np.frexp, np.spacing, np.nextafter, np.heaviside})

#: Elementwise and free of rounding.
EXACT_UFUNCS: frozenset[Any] = frozenset({np.negative, np.positive, np.absolute, np.fabs, np.copysign, np.conjugate})

#: New arrays like a noisy one: without noise.
CREATES: frozenset[Any] = frozenset(
    {np.zeros, np.ones, np.full, np.empty, np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.eye, np.arange}
)

#: Movement and selection by plain indices or conditions: applied run by run.
MOVES: frozenset[Any] = frozenset(
    {
        *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims, np.permute_dims),
        *(
            np.concatenate,
            np.stack,
            np.split,
            np.array_split,
            np.vstack,
            np.hstack,
            np.broadcast_to,
            np.broadcast_arrays,
        ),
        *(np.repeat, np.tile, np.flip, np.roll, np.rot90, np.pad, np.take, np.take_along_axis, np.put_along_axis),
        *(np.where, np.select, np.choose, np.compress, np.delete, np.insert, np.append, np.copy, np.atleast_1d),
        *(
            np.diagonal,
            np.diag,
            np.tril,
            np.triu,
            np.trim_zeros,
            np.resize,
            np.atleast_2d,
            np.unstack,
            np.matrix_transpose,
        ),
        np.lib.stride_tricks.sliding_window_view,
        *(np.fft.fftshift, np.fft.ifftshift),
    }
)
