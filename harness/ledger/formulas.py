"""Changed references that lists of several libraries name: see harness/ledger/causes.py for what the functions take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from opproof.cases._layouts import Storage, layouts_of, storage_of
from opproof.harness.truth.noise.array import Noisy
from opproof.harness.truth.rounded import FORMATS, Arithmetic, Rounded, unwrap, wrap
from opproof.vocabulary.dtypes import round_to
from opproof.vocabulary.modes import Mode

#: SELU's constants (Klambauer et al., Self-Normalizing Neural Networks, 2017).
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
#: Abramowitz and Stegun 7.1.26, by which vector code evaluates erf in float32.
ERF_SCALE = 0.3275911
ERF_COEFFICIENTS = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


def stored(x: Any, name: str) -> Any:
    """`x` stored in the format `name` (f16, bf16, f32), its range included, in whatever arithmetic it is."""
    kind = FORMATS[name]
    if isinstance(x, Noisy):
        exact = np.asarray(round_to(x.exact, kind))
        return Noisy(exact, np.repeat(exact[None], x.source.runs, axis=0), x.source)
    if isinstance(x, Rounded):
        return wrap(round_to(unwrap(x), kind), x.arithmetic)
    return np.asarray(round_to(np.asarray(x), kind))


def exact(x: Any) -> Any:
    """The numbers of `x` as a plain array, in whatever arithmetic it is: what is decided by them is decided once."""
    if isinstance(x, Noisy):
        return np.asarray(x.exact)
    return unwrap(x)


def lies(question: Any, name: str) -> Storage:
    """Where the elements of the question's tensor of that name lie in memory."""
    return storage_of(question.inputs[question.names.index(name)].shape, layouts_of(question.case)[name])


def computed(function: Callable[[Any], Any], x: Any) -> Any:
    """What `function` makes of the numbers of `x`, once and for all, in whatever arithmetic they are."""
    if isinstance(x, Noisy):
        exact = np.asarray(function(np.asarray(x.exact)))
        return Noisy(exact, np.repeat(exact[None], x.source.runs, axis=0), x.source)
    return wrap(function(unwrap(x)), x.arithmetic) if isinstance(x, Rounded) else np.asarray(function(np.asarray(x)))


def cut_off(x: Any, name: str) -> Any:
    """`x` in the format `name`, digits past its last cut off; infinite from the power of two after its largest on."""
    kind = FORMATS[name]
    how = Arithmetic(kind, kind, truncates=True)

    def cut(values: Any) -> Any:
        past = np.abs(values) >= 2.0 ** (kind.max_exponent + 1)
        return np.where(past, np.copysign(np.inf, values), how.rounded(values))

    return computed(cut, x)


def multiply_in_turn(a: Any, b: Any, first: Any, step: int = 1) -> Any:
    """Add a @ b to `first`, `step` products at a time, in float32, every sum stored in the format of sums."""
    if not isinstance(b, Rounded):
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
