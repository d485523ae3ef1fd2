"""Arithmetic of a lower precision: inputs rounded, results rounded, or errors of its size that follow no value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind, round_to
from opproof.core.verdicts import SIZE, Mode, Verdict
from opproof.harness.diagnose.regions import list_float_inputs
from opproof.harness.diagnose.wrong import MAX_EVALUATED_ELEMENTS, WrongTensor
from opproof.harness.judge.bound import C, compare
from opproof.harness.judge.gradient import Rules
from opproof.harness.judge.judgement import Judgement, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import Expected, Question
from opproof.harness.reference.roundoff import compute_roundoff

#: Digits of each precision, the hidden bit included.
_DIGITS = {"f32": 24, "f16": 11, "tf32": 11, "bf16": 8}
#: Beyond these there are infinities.
_OVERFLOW_SIZES = {"f32": 2.0**127, "f16": 2.0**15, "tf32": 2.0**127, "bf16": 2.0**127}
#: Elements at least that are numbers of a lower precision by no chance, and how far off they may be, in bits.
_MIN_LOW_PRECISION_ELEMENTS = 4
_MAX_DISTANCE_BITS = 4
#: What is stored in 8 bits is a number of every precision.
_FLOAT8_DTYPES = [d for d in DTYPES.values() if d.kind is Kind.FLOAT8]
#: Root mean square of errors, in units of what honest rounding makes, that still looks like rounding.
_MAX_ROUNDING_RMS = 2.0
#: Units of the precision, of what is expected as a whole, that errors have at most, and the median of the wrong ones
#: beside the root mean square at least: a few large errors are no arithmetic's.
_MAX_ROUNDING_UNITS, _MIN_MEDIAN_TO_RMS = C, 0.1
#: Exponents (of significands from 1/2 to 1) below which numbers are subnormal.
_SUBNORMAL_EXPONENTS = {"f32": -125, "f16": -13, "tf32": -125, "bf16": -125}


def _lower(w: WrongTensor) -> list[str]:
    """Precisions below the case's dtype, the finest first; tf32 is f16's digits with f32's range."""
    digits = DTYPES[w.case.dtype].digits
    return [name for name, d in _DIGITS.items() if d < digits]


def find_rounded_inputs(w: WrongTensor) -> str | None:
    if w.expected.dtype.kind != "f":
        return None
    for name in _lower(w):
        for round_, how in _iter_roundings(name):
            inputs = [round_(v) if v is not None and v.dtype.kind == "f" else v for v in w.inputs]
            cotangents = [None if g is None else round_(g) for g in w.cotangents]
            if w.explained(inputs=inputs, cotangents=cotangents):
                held = [v for v in (*w.inputs, *w.cotangents) if v is not None and v.dtype.kind == "f"]
                named = _name_alike(name, how, held)
                return f"looks like {named} arithmetic: {w.what} is right for inputs {how} to {named}"
    return None


def find_rounded_results(w: WrongTensor) -> str | None:
    if w.expected.dtype.kind != "f":
        return None
    for name in _lower(w):
        for round_, how in _iter_roundings(name):
            if np.array_equal(w.got, round_(w.got), equal_nan=True) and w.fits(round_(w.expected)):
                named = _name_alike(name, how, [w.expected])
                return f"looks like {named} arithmetic: {w.what} is {how} to {named}"
    return None


def _name_alike(name: str, how: str, values: Sequence[Array]) -> str:
    """f16 and tf32 have as many digits: both are named where nothing lies beyond the range of the smaller one."""
    if name != "f16":
        return name
    f16, tf32 = (next(r for r, h in _iter_roundings(n) if h == how) for n in ("f16", "tf32"))
    same = all(np.array_equal(f16(v), tf32(v), equal_nan=True) for v in values)
    return "f16 or tf32" if same else name


def find_low_precision_results(w: WrongTensor) -> str | None:
    """Near what is expected, and every element a number of the lower precision, which what is expected is not."""
    if w.expected.dtype.kind != "f" or any(
        np.array_equal(w.got, round_to(w.got, d), equal_nan=True) for d in _FLOAT8_DTYPES
    ):
        return None
    for name in sorted(_lower(w), key=_DIGITS.__getitem__):
        round_, _ = next(_iter_roundings(name))
        inexact = np.isfinite(w.expected) & (round_(w.expected) != w.expected)
        if inexact.sum() < _MIN_LOW_PRECISION_ELEMENTS or not np.array_equal(w.got, round_(w.got), equal_nan=True):
            continue
        apart = np.abs(w.got - w.expected) / np.abs(w.expected)
        inside = inexact & (np.abs(w.expected) < _OVERFLOW_SIZES[name])
        if np.mean(apart[inside] < 2.0 ** (_MAX_DISTANCE_BITS - _DIGITS[name])) > 0.8:
            return f"looks like {name} arithmetic: every element of {w.what} is a number of {name}"
    return None


def _iter_roundings(name: str) -> Iterator[tuple[Any, str]]:
    if name == "tf32":
        yield (lambda v: _to_digits(v, 11, _SUBNORMAL_EXPONENTS[name], nearest=True)), "rounded"
    else:
        yield (lambda v: round_to(v, DTYPES[name])), "rounded"
    yield (lambda v: _to_digits(v, _DIGITS[name], _SUBNORMAL_EXPONENTS[name], nearest=False)), "truncated"


def _to_digits(v: Array, digits: int, least: int, *, nearest: bool) -> Array:
    """Significands of `digits` binary digits, fewer below the exponent `least`, where numbers are subnormal."""
    fraction, exponent = np.frexp(v)
    fraction, exponent = np.ldexp(fraction, np.minimum(exponent - least, 0)), np.maximum(exponent, least)
    scaled = np.ldexp(fraction, digits)
    kept = np.where(np.isfinite(v), np.rint(scaled) if nearest else np.trunc(scaled), v)
    return np.where(np.isfinite(v), np.ldexp(kept, exponent - digits), v)


def size_of_errors(w: WrongTensor) -> str | None:
    """Errors of both signs everywhere, of the size that rounding every operation to less would cause."""
    if (
        w.expected.dtype.kind != "f"
        or w.got.size > MAX_EVALUATED_ELEMENTS
        or w.failing.mean() < 0.2
        or w.failing.sum() < 2
    ):
        return None
    finite = np.isfinite(w.got) & np.isfinite(w.expected)
    error = (w.got - w.expected)[finite & w.failing]
    few = error.size < 8  # of which the signs tell nothing
    wrong = (w, *(other for other in w.others if other.failing.any()))  # of one formula: what rounds one rounds all
    if (
        any(map(follows, wrong))
        or not finite.all()
        or not (few or 0.15 <= np.mean(error > 0) <= 0.85)
        or _is_systematic(w)
    ):
        return None
    for declared, name in _list_declarations(w):
        expected = _expect_declared(w, declared)
        if expected is None:
            continue
        compared = compare(w.got, expected, w.dtype)
        spread = float(np.sqrt(np.mean(np.square(compared.units))))
        unit = compute_roundoff(DTYPES[w.case.dtype], declared)
        usual = float(np.median(compared.units[w.failing]))
        alike = usual >= _MIN_MEDIAN_TO_RMS * spread and _rms_of(error) <= _MAX_ROUNDING_UNITS * unit * _rms_of(
            w.expected
        )
        if compared.passed.all() and alike and 0.02 <= spread <= (1 if few else _MAX_ROUNDING_RMS):
            return f"looks like {name} arithmetic: the errors of {w.what} are {spread:.2g} units of it"
    return None


def _rms_of(v: Array) -> float:
    return float(np.sqrt(np.mean(np.square(v))))


def _is_systematic(w: WrongTensor) -> bool:
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


def _list_declarations(w: WrongTensor) -> list[tuple[str, str]]:
    if DTYPES[w.case.dtype].digits < 24:
        return [("storage", w.case.dtype), (w.case.dtype, w.case.dtype)]  # between operations; within sums too
    finer = [("f32", "f32")] if w.case.dtype == "f64" else []
    return [*finer, ("tf32", "f16 or tf32"), ("bf16", "bf16")]


def _expect_declared(w: WrongTensor, declared: str) -> Expected | None:
    if w.mode is Mode.GRADIENT and w.op.vjp is None:
        return None
    alone = tuple(i == w.which for i in range(len(w.inputs)))
    return evaluate_expected(w.posed.given(needs=alone), declared)[w.which]


#: Units, under the declaration, that an honest composite's largest error has at most, and their RMS at least.
MAX_COMPOSITE_UNITS = 4.0
MIN_COMPOSITE_RMS = 0.1
#: Elements at least: a single one could be off for any reason.
MIN_COMPOSITE_ELEMENTS = 2


def find_undeclared_storage(posed: Question, answer: Outputs, judgement: Judgement, rules: Rules) -> tuple[str, str]:
    """Label and sentence where a 16-bit record passes with its intermediates or its sums in the dtype; else both empty.

    Not where elements are too large or too small together: the judgement says that, and by how much.
    """
    dtype = posed.case.dtype
    if rules.declared is not None or DTYPES[dtype].digits >= 24 or _has_common_error(judgement):
        return "", ""
    if sum(j.comparison.units.size for j in judgement.tensors) < MIN_COMPOSITE_ELEMENTS:
        return "", ""
    wrong = sum(int((~j.comparison.passed).sum()) for j in judgement.tensors)
    sums = wrong > 1 and "long sum" in posed.op.traits  # one sum could be off for any reason
    summed = [(dtype, f"its sums are accumulated in {dtype}")] if sums else []
    for declaration, how in [("storage", f"its intermediates are stored in {dtype}"), *summed]:
        declared = judge(posed, answer, replace(rules, declared=declaration))
        if declared.verdict is Verdict.PASS and of_its_size(declared):
            said = f'passes if {how}: declare it (compute -> "{declaration}"), or accumulate in float32'
            return SIZE, said
    return "", ""


def of_its_size(declared: Judgement) -> bool:
    """Whether errors are as large as such rounding makes them: a wrong formula's are larger, or in a few elements."""
    rms = declared.figures.rms
    return (
        declared.units is not None
        and declared.units <= MAX_COMPOSITE_UNITS
        and (rms is None or rms >= MIN_COMPOSITE_RMS)
    )


def _has_common_error(judgement: Judgement) -> bool:
    """Whether a factor, or how results are rounded, says more."""
    figures = [j.figures for j in judgement.tensors]
    if any(
        f.factor is not None and f.bias is not None and f.rms is not None and abs(f.bias) > f.rms / 2 for f in figures
    ):
        return True
    within = all(j.comparison.passed.all() for j in judgement.tensors)
    return within and any(f.find_misrounding(None) for f in figures)


#: Standard deviations that so few runs, or such a correlation, are off the mean; elements that are looked at, for
#: neighbours that are too near each other are rounded alike.
_MIN_OFF_SIGMAS = 3.5
_MIN_LOOKED_ELEMENTS = 8
_MAX_LOOKED_ELEMENTS = 64


def follows(w: WrongTensor) -> bool:
    """Whether the errors that are more than the rounding of the result are a formula's."""
    if w.expected.dtype.kind != "f":
        return False
    error = w.got - w.expected
    sure = np.isfinite(error) & (np.abs(error) > 2 * DTYPES[w.dtype].u * np.abs(w.expected))
    relative = np.sign(error * w.expected)[sure]
    if relative.size < _MIN_LOOKED_ELEMENTS:
        return False
    if np.unique(np.abs(w.expected[sure])).size >= _MIN_LOOKED_ELEMENTS and abs(relative.sum()) == relative.size:
        return True  # all too large, or all too small
    if any(_changes_seldom(key[sure], error[sure]) or _changes_seldom(key[sure], relative) for key in _iter_keys(w)):
        return True
    step = _measure_step(w)
    return step is not None and _in_step(step[sure], error[sure])


def _measure_step(w: WrongTensor) -> Array | None:
    """By how much a tensor moves whose next value the output is, as the parameters of an optimizer do."""
    before = next((v for name, v in zip(w.names, w.inputs, strict=True) if name == w.what), None)
    return None if before is None or before.shape != w.expected.shape else w.expected - before


def _in_step(step: Array, error: Array) -> bool:
    """Whether errors grow with the steps, by R. A. Fisher's transformation of their correlation."""
    sizes = np.std(step), np.std(error)
    if not np.isfinite(sizes).all() or min(sizes) == 0:
        return False
    correlation = np.mean((step - step.mean()) / sizes[0] * (error - error.mean()) / sizes[1])
    return bool(np.arctanh(min(abs(correlation), 1 - 1e-9)) * np.sqrt(step.size - 3) > _MIN_OFF_SIGMAS)


def _iter_keys(w: WrongTensor) -> Iterator[Array]:
    yield w.expected
    yield from (v for _, v in list_float_inputs(w) if v.shape == w.got.shape and np.isfinite(v).all())


def _changes_seldom(key: Array, error: Array) -> bool:
    """Whether the signs of errors come in few runs, along a key; what is twice there counts once.

    A. Wald, J. Wolfowitz: *On a test whether two samples are from the same population*. Annals of Mathematical
    Statistics 11, 1940.
    """
    values, first = np.unique(key, return_index=True)
    if values.size < 2 * _MIN_LOOKED_ELEMENTS:
        return False
    chosen = first[np.unique(np.linspace(0, values.size - 1, min(values.size, _MAX_LOOKED_ELEMENTS)).astype(int))]
    above = error[chosen] > 0
    n, m = int(above.sum()), int((~above).sum())
    if min(n, m) < 2:
        return min(n, m) == 0
    mean = 2 * n * m / (n + m) + 1
    deviation = np.sqrt((mean - 1) * (mean - 2) / (n + m - 1))
    return bool(1 + np.count_nonzero(above[1:] != above[:-1]) < mean - _MIN_OFF_SIGMAS * deviation)
