"""Which tolerance is honest: the least that right kernels keep, and the wrong kernels that pass under it all the same.

A right kernel is off by its interior roundings, whose size Monte Carlo arithmetic measures for each element, and by one
store. The least pair of atol and rtol, as `torch.testing.assert_close` takes them, allows that and no more. It is for
sums in any order; a pair for one kernel, that of a library, is measured by what that kernel is off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from opproof.backends.load import load_backend
from opproof.cases import Case
from opproof.cases._defects import list_wrong
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype, round_to, spacing_of
from opproof.core.errors import UsageError
from opproof.core.verdicts import Mode
from opproof.harness.judge.causes import evaluate_results
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import Question, make_question, name_outputs
from opproof.harness.reference.rounded_arithmetic import RoundedArithmetic, iter_arithmetics
from opproof.reference_ops import Op
from opproof.reports.tolerance import Tolerance, ToleranceReport

#: What answers a question.
Kernel: TypeAlias = Callable[[Question], list[Array | None]]
#: Standard deviations of interior rounding that a right element may be off: one in 10^9 is off by more.
HONEST_SIGMAS = 6.0
#: So many times what one kernel was off in a few draws it may be off in a thousand.
KERNEL_MARGIN = 1.5
#: Steps in which rtol is tried, to each doubling.
RTOL_STEPS = 8
#: Doublings of rtol below the largest that are tried.
RTOL_DOUBLINGS = 40
#: What cuts digits off, by its name as a wrong kernel.
TRUNCATED = "digits cut off, not rounded"
#: Digits of a tolerance, which is rounded up.
TOLERANCE_DIGITS = 2


@dataclass(frozen=True)
class ToleranceDraw:
    """One array of one draw: what is expected, how far a right element may be off, and what wrong kernels give."""

    values: Array
    error: Array
    usual: Array  # the RMS of a right element's error
    wrong: Mapping[str, Array]


def measure_tolerances(
    case: Case, op: Op, mode: Mode, draws: int,
    compute: str | None = None, given: Tolerance | None = None, kernel: str = "",
) -> list[ToleranceReport]:  # fmt: skip
    """One report for each result of floats, of the least tolerance or of the one `given`.

    `kernel`: the backend whose kernel is to keep it; any right one where it is empty. Raises UsageError where
    nothing is rounded, or the kernel does not answer.
    """
    ask = load_kernel(kernel) if kernel else None
    found: dict[str, list[ToleranceDraw]] = {}
    kinds: dict[str, Dtype] = {}
    for seed in range(draws):
        posed = make_question(case.with_seed(seed) if seed else case, op, mode).case_data
        for name, dtype, draw in _iter_draws(posed, compute, ask):
            found.setdefault(name, []).append(draw)
            kinds[name] = DTYPES[dtype]
    if not found:
        raise UsageError(f"{case}: no {mode.value} result holds floats that are rounded: compare with torch.equal.")
    return [_report(name, some, kinds[name], given) for name, some in found.items()]


def load_kernel(name: str) -> Kernel:
    """What asks the kernels of a backend, in this process. Raises BackendError; it raises UsageError."""
    backend = load_backend(name)

    def ask(posed: Question) -> list[Array | None]:
        pairs = zip(posed.names, posed.inputs, strict=True)
        given = [None if v is None else to_dtype(v, posed.case.dtype_of(n)) for n, v in pairs]
        try:
            if posed.mode is Mode.FORWARD:
                return list(backend.forward(posed.op.name, given, posed.params))
            cotangents = [None if g is None else to_dtype(g, posed.case.dtype) for g in posed.cotangents]
            return list(backend.vjp(posed.op.name, given, posed.params, cotangents, list(posed.needs)))
        except Exception as error:  # a library's, of any type
            text = f"{type(error).__name__}: {error}"
            raise UsageError(f"{posed.case}: {name} does not answer ({text[:200]}); leave --kernel out.") from None

    return ask


def _iter_draws(posed: Question, compute: str | None, ask: Kernel | None) -> Iterator[tuple[str, str, ToleranceDraw]]:
    forward = posed.mode is Mode.FORWARD
    expected = evaluate_expected(posed, compute)
    answer = ask(posed) if ask else [None] * len(expected)
    of_results = name_outputs(posed.op, len(expected)) if forward else [str(n) for n in posed.names]
    lower = dict(_iter_lower_precisions(posed))
    for i, (name, want, got) in enumerate(zip(of_results, expected, answer, strict=True)):
        if want is None or want.values.dtype.kind != "f" or want.exact or not want.values.size:
            continue
        kind = DTYPES[posed.dtype_of(i)]
        with np.errstate(all="ignore"):
            inside, stored = kind.u * want.scale, kind.u * np.abs(want.values)
            error = HONEST_SIGMAS * inside + stored + kind.subnormal
            usual = np.hypot(inside, stored / math.sqrt(3))  # errors of a store are uniform
            if got is not None:
                error = KERNEL_MARGIN * np.abs(np.asarray(got, dtype=np.float64) - want.values)
                usual = error / KERNEL_MARGIN
        finite, shape = np.isfinite(want.values) & np.isfinite(error), want.values.shape
        wrong = {n: np.asarray(round_to(y, kind)) for n, y in list_wrong(want.values).items()}
        wrong[TRUNCATED] = RoundedArithmetic(kind, kind, truncates=True).rounded(want.values)
        wrong |= {n: y for n, results in lower.items() if (y := results[i]) is not None}
        chosen = {n: y[finite] for n, y in wrong.items() if y.shape == shape}
        yield name, posed.dtype_of(i), ToleranceDraw(want.values[finite], error[finite], usual[finite], chosen)


def _iter_lower_precisions(posed: Question) -> Iterator[tuple[str, list[Array | None]]]:
    """The results of a kernel that computes, and adds up, in fewer digits."""
    for name in ("f16", "bf16") if posed.case.dtype in ("f32", "f64") else (posed.case.dtype,):
        yield f"computed and added up in {name}", evaluate_results(posed, next(iter_arithmetics(name, name, "")))


def _report(name: str, draws: Sequence[ToleranceDraw], kind: Dtype, given: Tolerance | None) -> ToleranceReport:
    parts = ("values", "error", "usual")
    values, error, usual = (np.concatenate([getattr(d, part).ravel() for d in draws]) for part in parts)
    size = np.abs(values)
    tolerance = given or find_least(size, error)
    with np.errstate(all="ignore"):
        relative = np.where(error > 0, error / size, 0.0)
    wrong = dict.fromkeys(n for d in draws for n in d.wrong)
    return ToleranceReport(
        name=name,
        tolerance=tolerance,
        rejected=float(np.mean(~tolerance.allows(error, values))) if values.size else 0.0,
        rtol_alone=float(np.max(relative, initial=0.0)),
        ulp=float(np.max(error / spacing_of(size, kind), initial=0.0)),
        nmse=float(np.sum(np.square(usual)) / max(np.sum(np.square(values)), np.finfo(float).tiny)),
        passing={n: sum(_passes(d, n, tolerance) for d in draws) for n in wrong},
        draws=len(draws),
    )


def _passes(draw: ToleranceDraw, name: str, tolerance: Tolerance) -> bool:
    return name in draw.wrong and bool(tolerance.allows(np.abs(draw.wrong[name] - draw.values), draw.values).all())


def find_least(size: Array, error: Array) -> Tolerance:
    """The pair that allows errors of elements of these sizes, and least beside a number of the usual size."""
    usual = math.sqrt(float(np.mean(np.square(size)))) if size.size else 0.0
    with np.errstate(all="ignore"):
        largest = float(np.max(np.where(size > 0, error / size, 0.0), initial=0.0))
    tried = [largest * 2.0 ** (-k / RTOL_STEPS) for k in range(RTOL_STEPS * RTOL_DOUBLINGS)] if usual else []
    pairs = [(rtol, float(np.max(error - rtol * size, initial=0.0))) for rtol in (*tried, 0.0)]
    rtol, _ = min(pairs, key=lambda pair: pair[0] * usual + pair[1])
    rtol = _round_up(rtol)
    return Tolerance(_round_up(float(np.max(error - rtol * size, initial=0.0))), rtol)


def _round_up(number: float) -> float:
    if number <= 0 or not math.isfinite(number):
        return max(number, 0.0)
    digits = TOLERANCE_DIGITS - 1 - math.floor(math.log10(number))
    return float(f"{math.ceil(number * 10.0**digits - 1e-9) * 10.0**-digits:.{TOLERANCE_DIGITS}g}")
