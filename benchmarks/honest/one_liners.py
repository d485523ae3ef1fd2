"""Would NumPy's own function pass? One line each in plain float32, as NumPy's and SciPy's users write them.

VALUES has for each operator a case at which such ways round much, or one has failed, and the ways themselves, functions
of the tensors in float32 and of the parameters; gradients.py has those of gradients. That all pass, and that none does
once it is 0.2 % off, is what tests/benchmarks/test_one_liners.py holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special

Values = Callable[..., Any]


class Ways(NamedTuple):
    """Honest ways of one operator; `case` is the inside of an id, without its dtype."""

    case: str
    ways: dict[str, Values]


def _rows(x: Any, dim: Any) -> Any:
    """The axes `dim`, all where None, as one, the last."""
    gone = tuple(a % x.ndim for a in (range(x.ndim) if dim is None else np.atleast_1d(dim)))
    rest = tuple(a for a in range(x.ndim) if a not in gone)
    return np.transpose(x, rest + gone).reshape(*(x.shape[a] for a in rest), -1)


def _back(y: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """A reduction of `_rows`, its axes put back at size 1 where they are kept."""
    gone = [a % x.ndim for a in (range(x.ndim) if dim is None else np.atleast_1d(dim))]
    return y.reshape([1 if a in gone else n for a, n in enumerate(x.shape)]) if keepdim else y


def reduced(function: Values) -> Values:
    """A function of rows (..., n) as a reduction over `dim`."""

    def of_axes(x: Any, *, dim: Any = None, keepdim: bool = False, **given: Any) -> Any:
        return _back(function(_rows(x, dim), **given), x, dim, keepdim)

    return of_axes


def _welford(rows: Any) -> Any:
    mean, squares = np.zeros(rows.shape[:-1], rows.dtype), np.zeros(rows.shape[:-1], rows.dtype)
    for i in range(rows.shape[-1]):
        distance = rows[..., i] - mean
        mean = mean + distance / np.float32(i + 1)
        squares = squares + distance * (rows[..., i] - mean)
    return squares


def _shifted(rows: Any) -> Any:
    """By the first of the row, not by its mean."""
    from_first = rows - rows[..., :1]
    return np.sum(from_first**2, -1) - np.sum(from_first, -1) ** 2 / np.float32(rows.shape[-1])


def _online(rows: Any) -> Any:
    top, total = np.full(rows.shape[:-1], -np.inf, rows.dtype), np.zeros(rows.shape[:-1], rows.dtype)
    for i in range(rows.shape[-1]):
        new = np.maximum(top, rows[..., i])
        total, top = total * np.exp(top - new) + np.exp(rows[..., i] - new), new
    return top + np.log(total)


def _log_of_two(a: Any, b: Any) -> Any:
    top = np.maximum(a, b)
    return np.log(np.exp(a - top) + np.exp(b - top)) + top


def _degrees(rows: Any, correction: int) -> Any:
    return np.float32(rows.shape[-1] - correction)


def _kept(function: Values) -> Values:
    """A reduction that keeps its axis, by NumPy's `axis`."""
    return lambda x, dim: function(x, axis=dim, keepdims=True)


_sum, _largest, _logsumexp = _kept(np.sum), _kept(np.max), _kept(special.logsumexp)
_SPECIAL, _WIDE = "x=25x7;dim=-1;fill=special-rows", "x=5x31;fill=wide"
_LOG2E, _ROOT = np.float32(1.4426950408889634), np.float32(0.5**0.5)


def _exp2(x: Any, dim: int) -> Any:
    return np.exp2((x - _largest(x, dim)) * _LOG2E)


def _less_than_all(x: Any, target: Any) -> Any:
    return special.logsumexp(x, axis=1) - np.take_along_axis(x, target[:, None], axis=1)[:, 0]


def _welford_var(rows: Any, correction: int) -> Any:
    return _welford(rows) / _degrees(rows, correction)


def _shifted_var(rows: Any, correction: int) -> Any:
    return _shifted(rows) / _degrees(rows, correction)


VALUES = {
    "logsumexp": Ways("x=5x4099;dim=-1;fill=wide", {
        "np.logaddexp.reduce": reduced(lambda r: np.logaddexp.reduce(r, axis=-1)),
        "special.logsumexp": reduced(lambda r: special.logsumexp(r, axis=-1)),
        "a running maximum": reduced(_online),
    }),
    "logcumsumexp": Ways("x=2x4099;dim=-1", {
        "np.logaddexp.accumulate": lambda x, dim: np.logaddexp.accumulate(x, axis=dim),
    }),
    "logaddexp": Ways("a=3x127;b=3x127;fill=extreme;seed=4", {"the log of a sum": _log_of_two}),
    "softmax": Ways(_SPECIAL, {
        "special.softmax": lambda x, dim: special.softmax(x, axis=dim),
        "exp(x - logsumexp(x))": lambda x, dim: np.exp(x - _logsumexp(x, dim)),
        "exp2": lambda x, dim: _exp2(x, dim) / _sum(_exp2(x, dim), dim),
    }),
    "log_softmax": Ways(_SPECIAL, {
        "special.log_softmax": lambda x, dim: special.log_softmax(x, axis=dim),
        "x - logsumexp(x)": lambda x, dim: x - _logsumexp(x, dim),
    }),
    "sum": Ways("x=32x128;dim=-1", {"np.add.accumulate": reduced(lambda r: np.add.accumulate(r, axis=-1)[..., -1])}),
    "mean": Ways("x=32x128;dim=-1", {"by 1 / n": reduced(lambda r: np.sum(r, -1) * np.float32(1 / r.shape[-1]))}),
    "prod": Ways("x=17x65;dim=-1;fill=close", {
        "one by one": reduced(lambda r: np.multiply.accumulate(r, axis=-1)[..., -1]),
    }),
    "cumsum": Ways("x=2x4099;dim=-1", {"np.cumsum": lambda x, dim: np.cumsum(x, axis=dim)}),
    "cumprod": Ways("x=5x31;dim=0", {"np.cumprod": lambda x, dim: np.cumprod(x, axis=dim)}),
    "norm": Ways("x=32x128;dim=-1", {
        "np.linalg.norm": reduced(lambda r, p: np.linalg.norm(r, p, axis=-1)),
        "np.hypot.reduce": reduced(lambda r, **_: np.hypot.reduce(r, axis=-1)),
    }),
    "var": Ways("x=5x65;dim=-1;fill=offset-1e3", {"Welford": reduced(_welford_var), "shifted": reduced(_shifted_var)}),
    "std": Ways("x=5x65;dim=-1;fill=offset-1e3", {
        "np.std": reduced(lambda r, correction: np.std(r, axis=-1, ddof=correction)),
    }),
    "sigmoid": Ways(_WIDE, {"1 / (1 + exp(-x))": lambda x: 1 / (1 + np.exp(-x)), "special.expit": special.expit}),
    "silu": Ways(_WIDE, {"x / (1 + exp(-x))": lambda x: x / (1 + np.exp(-x))}),
    "logsigmoid": Ways(_WIDE, {"special.log_expit": special.log_expit}),
    "gelu": Ways(_WIDE, {
        "special.ndtr": lambda x, **_: x * special.ndtr(x),
        "special.erfc": lambda x, **_: x / 2 * special.erfc(-x * _ROOT),
    }),
    "lgamma": Ways("x=66,;fill=special", {"special.gammaln": special.gammaln}),
    "digamma": Ways("x=7x33", {"special.psi": special.psi}),
    "cross_entropy": Ways("x=25x7;target=25,;reduction=none;fill=special-rows", {
        "logsumexp(x) - x[target]": lambda x, target, **_: _less_than_all(x, target),
    }),
    "inverse": Ways("x=66x3x3", {"np.linalg.inv": np.linalg.inv}),
    "det": Ways("x=66x3x3", {"np.linalg.det": np.linalg.det}),
}  # fmt: skip
