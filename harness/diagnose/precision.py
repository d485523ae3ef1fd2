"""Arithmetic of a lower precision: inputs rounded, results rounded, or errors of its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind, round_to
from opproof.core.verdicts import Mode
from opproof.harness.diagnose import smooth
from opproof.harness.diagnose.wrong import MOST, Wrong
from opproof.harness.judge.bound import C, compare
from opproof.harness.reference.expected import Expected, expected_of
from opproof.harness.reference.roundoff import compute_roundoff

#: Digits of each precision, the hidden bit included.
_DIGITS = {"f32": 24, "f16": 11, "tf32": 11, "bf16": 8}
#: Beyond these there are infinities.
_LARGEST = {"f32": 2.0**127, "f16": 2.0**15, "tf32": 2.0**127, "bf16": 2.0**127}
#: Elements at least that are numbers of a lower precision by no chance, and how far off they may be, in bits.
_FEWEST, _NEAR = 4, 4
#: What is stored in 8 bits is a number of every precision.
_EIGHTHS = [d for d in DTYPES.values() if d.kind is Kind.FLOAT8]
#: Root mean square of errors, in units of what honest rounding makes, that still looks like rounding.
_WIDEST = 2.0
#: Units of the precision, of what is expected as a whole, that errors have at most, and the median of the wrong ones
#: beside the root mean square at least: a few large errors are no arithmetic's.
_LARGEST_ERROR, _USUAL = C, 0.1
#: Exponents (of significands from 1/2 to 1) below which numbers are subnormal.
_LEAST = {"f32": -125, "f16": -13, "tf32": -125, "bf16": -125}


def _lower(w: Wrong) -> list[str]:
    """Precisions below the case's dtype, the finest first; tf32 is f16's digits with f32's range."""
    digits = DTYPES[w.case.dtype].digits
    return [name for name, d in _DIGITS.items() if d < digits]


def inputs_rounded(w: Wrong) -> str | None:
    if w.expected.dtype.kind != "f":
        return None
    for name in _lower(w):
        for round_, how in _roundings(name):
            inputs = [round_(v) if v is not None and v.dtype.kind == "f" else v for v in w.inputs]
            cotangents = [None if g is None else round_(g) for g in w.cotangents]
            if w.explained(inputs=inputs, cotangents=cotangents):
                held = [v for v in (*w.inputs, *w.cotangents) if v is not None and v.dtype.kind == "f"]
                named = _alike(name, how, held)
                return f"looks like {named} arithmetic: {w.what} is right for inputs {how} to {named}"
    return None


def results_rounded(w: Wrong) -> str | None:
    if w.expected.dtype.kind != "f":
        return None
    for name in _lower(w):
        for round_, how in _roundings(name):
            if np.array_equal(w.got, round_(w.got), equal_nan=True) and w.fits(round_(w.expected)):
                named = _alike(name, how, [w.expected])
                return f"looks like {named} arithmetic: {w.what} is {how} to {named}"
    return None


def _alike(name: str, how: str, values: Sequence[Array]) -> str:
    """f16 and tf32 have as many digits: both are named where nothing lies beyond the range of the smaller one."""
    if name != "f16":
        return name
    f16, tf32 = (next(r for r, h in _roundings(n) if h == how) for n in ("f16", "tf32"))
    same = all(np.array_equal(f16(v), tf32(v), equal_nan=True) for v in values)
    return "f16 or tf32" if same else name


def held(w: Wrong) -> str | None:
    """Near what is expected, and every element a number of the lower precision, which what is expected is not."""
    if w.expected.dtype.kind != "f" or any(np.array_equal(w.got, round_to(w.got, d), equal_nan=True) for d in _EIGHTHS):
        return None
    for name in sorted(_lower(w), key=_DIGITS.__getitem__):
        round_, _ = next(_roundings(name))
        inexact = np.isfinite(w.expected) & (round_(w.expected) != w.expected)
        if inexact.sum() < _FEWEST or not np.array_equal(w.got, round_(w.got), equal_nan=True):
            continue
        apart = np.abs(w.got - w.expected) / np.abs(w.expected)
        inside = inexact & (np.abs(w.expected) < _LARGEST[name])
        if np.mean(apart[inside] < 2.0 ** (_NEAR - _DIGITS[name])) > 0.8:
            return f"looks like {name} arithmetic: every element of {w.what} is a number of {name}"
    return None


def _roundings(name: str) -> Iterator[tuple[Any, str]]:
    if name == "tf32":
        yield (lambda v: _to_digits(v, 11, _LEAST[name], nearest=True)), "rounded"
    else:
        yield (lambda v: round_to(v, DTYPES[name])), "rounded"
    yield (lambda v: _to_digits(v, _DIGITS[name], _LEAST[name], nearest=False)), "truncated"


def _to_digits(v: Array, digits: int, least: int, *, nearest: bool) -> Array:
    """Significands of `digits` binary digits, fewer below the exponent `least`, where numbers are subnormal."""
    fraction, exponent = np.frexp(v)
    fraction, exponent = np.ldexp(fraction, np.minimum(exponent - least, 0)), np.maximum(exponent, least)
    scaled = np.ldexp(fraction, digits)
    kept = np.where(np.isfinite(v), np.rint(scaled) if nearest else np.trunc(scaled), v)
    return np.where(np.isfinite(v), np.ldexp(kept, exponent - digits), v)


def size_of_errors(w: Wrong) -> str | None:
    """Errors of both signs everywhere, of the size that rounding every operation to less would cause."""
    if w.expected.dtype.kind != "f" or w.got.size > MOST or w.failing.mean() < 0.2 or w.failing.sum() < 2:
        return None
    finite = np.isfinite(w.got) & np.isfinite(w.expected)
    error = (w.got - w.expected)[finite & w.failing]
    few = error.size < 8  # of which the signs tell nothing
    wrong = (w, *(other for other in w.others if other.failing.any()))  # of one formula: what rounds one rounds all
    if (
        any(map(smooth.follows, wrong))
        or not finite.all()
        or not (few or 0.15 <= np.mean(error > 0) <= 0.85)
        or _systematic(w)
    ):
        return None
    for declared, name in _declarations(w):
        expected = _expected(w, declared)
        if expected is None:
            continue
        compared = compare(w.got, expected, w.dtype)
        spread = float(np.sqrt(np.mean(np.square(compared.units))))
        unit = compute_roundoff(DTYPES[w.case.dtype], declared)
        usual = float(np.median(compared.units[w.failing]))
        alike = usual >= _USUAL * spread and _rms(error) <= _LARGEST_ERROR * unit * _rms(w.expected)
        if compared.passed.all() and alike and 0.02 <= spread <= (1 if few else _WIDEST):
            return f"looks like {name} arithmetic: the errors of {w.what} are {spread:.2g} units of it"
    return None


def _rms(v: Array) -> float:
    return float(np.sqrt(np.mean(np.square(v))))


def _systematic(w: Wrong) -> bool:
    """Whether every row's errors follow its values, and in the same sense: a formula does that, rounding does not.

    So do the errors of eps outside a root: each row is a little too small by a factor of its own.
    """
    if w.got.ndim < 2 or w.got.shape[-1] < 5 or w.got.size // w.got.shape[-1] < 3:
        return False
    error, value = (v.reshape(-1, v.shape[-1]) for v in (w.got - w.expected, w.expected))
    value = value - value.mean(axis=1, keepdims=True)
    together = np.sum(error * value, axis=1)
    size = np.sqrt(np.sum(error * error, axis=1) * np.sum(value * value, axis=1))
    correlation = together[size > 0] / size[size > 0]
    agree = correlation.size > 2 and abs(np.sign(correlation).sum()) == correlation.size
    return bool(agree and np.median(np.abs(correlation)) > 0.5)


def _declarations(w: Wrong) -> list[tuple[str, str]]:
    if DTYPES[w.case.dtype].digits < 24:
        return [("storage", w.case.dtype), (w.case.dtype, w.case.dtype)]  # between operations; within sums too
    finer = [("f32", "f32")] if w.case.dtype == "f64" else []
    return [*finer, ("tf32", "f16 or tf32"), ("bf16", "bf16")]


def _expected(w: Wrong, declared: str) -> Expected | None:
    if w.mode is Mode.GRADIENT and w.op.vjp is None:
        return None
    alone = tuple(i == w.which for i in range(len(w.inputs)))
    return expected_of(w.posed.given(needs=alone), declared)[w.which]
