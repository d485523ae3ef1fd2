"""Expected values and gradients of a case, and the scale of honest rounding for each element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype, round_to
from opproof.core.errors import OpError
from opproof.core.verdicts import Mode
from opproof.harness.reference import array_bias
from opproof.harness.reference.array_bias import is_narrow, measure_slope_spread, sample_elements
from opproof.harness.reference.error_scale import Deviation, measure_deviations
from opproof.harness.reference.question import Expected, Question, evaluate_forward, evaluate_vjp
from opproof.harness.reference.roundoff import DELTA, MAX_STORED_RMS_UNITS, compute_roundoff
from opproof.reference_ops import Trait

#: Parts of 1 that a factor may be a multiple of for products of small integers by it to be exact.
FACTOR_STEPS = 4


def evaluate_expected(posed: Question, declared: str | None = None) -> list[Expected | None]:
    """Expected outputs, or gradients where needed, with the scale of honest rounding; the op must have a vjp then."""
    return [*expect_forward(posed, declared)] if posed.mode is Mode.FORWARD else expect_vjp(posed, declared)


def expected_of(posed: Question, declared: str | None = None) -> list[Expected | None]:
    """Return what `evaluate_expected` gives, evaluated once for each precision that backends declare."""
    return posed.once(f"expected {declared or ''}", lambda: evaluate_expected(posed, declared))


def expect_forward(posed: Question, declared: str | None = None) -> list[Expected]:
    """Expected outputs, with the scale of honest rounding, whatever the mode that is posed."""
    posed = posed if posed.mode is Mode.FORWARD else posed.given(mode=Mode.FORWARD)
    if is_bitwise(posed):
        return [expect_unscaled(posed, v) for v in posed.outputs]
    if posed.op.reference is not None:
        from opproof.harness.reference.torch.evaluate import expect_results

        return [*expect_results(posed, declared).outputs]
    off = measure_deviations(posed, declared)
    dtype = DTYPES[posed.case.dtype]
    scaled = map(
        partial(_expect_scaled, posed, declared, dtype),
        posed.outputs,
        off,
        _measure_factor_changes(posed, posed.outputs, off),
    )
    return [replace(e, held=e.faithful and d is not None) for e, d in zip(scaled, off, strict=True)]


def expect_vjp(posed: Question, declared: str | None = None) -> list[Expected | None]:
    """Expected gradients of the inputs where needed, with the scale of honest rounding."""
    if posed.op.reference is not None and not is_bitwise(posed):
        from opproof.harness.reference.torch.evaluate import expect_results

        return [*expect_results(posed, declared).gradients]
    values = values_of(posed)
    if is_bitwise(posed):
        return [None if v is None else expect_unscaled(posed, v) for v in values]
    off = measure_deviations(posed, declared)
    kinds = [DTYPES[posed.dtype_of(i)] for i in range(len(values))]
    return [
        None if v is None else _expect_scaled(posed, declared, kind, v, d, m)
        for kind, v, d, m in zip(kinds, values, off, _measure_factor_changes(posed, values, off), strict=True)
    ]


def values_of(posed: Question) -> list[Array | None]:
    """Expected outputs, or gradients where needed, without their scale: one evaluation."""
    if posed.mode is Mode.FORWARD:
        return [*posed.outputs]
    return _evaluate_gradients(posed, posed.inputs, posed.params, posed.outputs)


def _evaluate_gradients(
    posed: Question, inputs: Sequence[Array | None], params: Mapping[str, Any], outputs: Sequence[Array]
) -> list[Array | None]:
    exact = evaluate_vjp(posed.op, inputs, params, posed.cotangents, outputs)
    return [np.asarray(v) if n else None for v, n in zip(exact, posed.needs, strict=True)]


def is_bitwise(posed: Question) -> bool:
    """Whether no result of the case commits a rounding error."""
    op, mode = posed.op, posed.mode
    few_digits = all(value * FACTOR_STEPS % 1 == 0 for value in posed.params.values() if isinstance(value, float))
    exact = op.multilinear and posed.case.fill in ("exact", "signs") and few_digits
    return DTYPES[posed.case.dtype].whole or exact or op.is_exact(mode)


def expect_unscaled(posed: Question, values: Array) -> Expected:
    """What is expected where nothing rounds."""
    # g sign(x) is g x / |x| to some: pointwise arithmetic may round once, what moves elements may not.
    once = posed.mode is Mode.GRADIENT and Trait.POINTWISE in posed.op.traits
    return Expected(values, np.zeros(values.shape), exact=not once, faithful=posed.mode is Mode.GRADIENT)


def _measure_factor_changes(
    posed: Question, values: Sequence[Array | None], off: Sequence[Deviation | None]
) -> list[list[Array]]:
    """Of results whose whole is looked at the changes by a factor of one operand, divided by that factor less 1.

    Each is `sampled`.
    """
    changes: list[list[Array]] = [[] for _ in values]
    if not any(d is not None and d.few for d in off):
        return changes
    for inputs, params in _with_a_factor(posed):
        try:
            moved = _evaluate_with(posed, inputs, params)
        except (OpError, ValueError):  # what the operator does not take moves nothing
            continue
        for to, old, new in zip(changes, values, moved, strict=True):
            if old is not None and new is not None and old.dtype.kind == "f" and new.shape == old.shape:
                with np.errstate(all="ignore"):
                    to.append((sample_elements(new) - sample_elements(old)) / DELTA)
    return changes


def _with_a_factor(posed: Question) -> Iterator[tuple[Sequence[Array | None], Mapping[str, Any]]]:
    """Inputs and parameters, one of which is a little less than it was."""
    for i, x in enumerate(posed.inputs):
        if x is not None and x.dtype.kind == "f":
            yield (*posed.inputs[:i], x * (1 - DELTA), *posed.inputs[i + 1 :]), posed.params
    for name, number in posed.params.items():
        if isinstance(number, float):
            yield posed.inputs, {**posed.params, name: number * (1 - DELTA)}


def _evaluate_with(posed: Question, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array | None]:
    outputs = evaluate_forward(posed.op, inputs, params)
    return [*outputs] if posed.mode is Mode.FORWARD else _evaluate_gradients(posed, inputs, params, outputs)


def _expect_scaled(
    posed: Question, declared: str | None, kind: Dtype, values: Array, off: Deviation | None, moved: Sequence[Array]
) -> Expected:
    """The RMS deviation of the runs, in units of u(kind), the result's own dtype."""
    if values.dtype.kind != "f" or off is None:
        return Expected(values, np.zeros(values.shape), exact=values.dtype.kind != "f")
    dtype = DTYPES[posed.case.dtype]
    real = max(compute_roundoff(dtype, declared), dtype.u) / DELTA
    with np.errstate(all="ignore"):
        scale = off.root * (real / kind.u)
    scale = _round_scale(np.where(np.isfinite(scale), scale, 0.0))
    each = Trait.POINTWISE in posed.op.traits
    whole = leaning = stored = None
    if off.few and is_narrow(values, kind):
        stored = MAX_STORED_RMS_UNITS
        whole = max(
            measure_slope_spread(off.few, values, scale) * real,
            array_bias.slope_of_a_constant(moved, values, scale, kind.u),
        )
        leaning = (
            array_bias.bias_of_a_constant(moved, sample_elements(values), kind) if _has_no_constant(posed) else None
        )
    return Expected(
        values,
        scale,
        faithful=is_faithful(posed.case, declared, kind),
        each=each,
        stored=stored,
        spread=whole,
        leaning=leaning,
    )


def _has_no_constant(posed: Question) -> bool:
    """Whether results are sums of products of operands alone.

    An f16 or bf16 number times a constant of its dtype, such as 1 / 6, is stored to one side more often than to the
    other.
    """
    return posed.op.multilinear and not any(isinstance(v, float) for v in posed.params.values())


def _round_scale(scale: Array) -> Array:
    """`scale` to 8 digits, 0.2 % of what 16 runs leave open by 18 %: a cache holds it in two bytes."""
    rounded: Array = (((np.asarray(scale).view(np.int64) + (1 << 44)) >> 45) << 45).view(np.float64)
    return rounded


def is_faithful(case: Case, declared: str | None, kind: Dtype) -> bool:
    """Whether interior arithmetic is more precise than what is stored, in the dtype `kind`."""
    return compute_roundoff(DTYPES[case.dtype], declared) < kind.u


def has_saved_overflow(case: Case, outputs: Sequence[Array]) -> bool:
    """Whether an output that a backward saves overflows the case's dtype."""
    dtype = DTYPES[case.dtype]
    return any(bool(np.any(np.isinf(round_to(y, dtype)) & np.isfinite(y))) for y in outputs if y.dtype.kind == "f")
