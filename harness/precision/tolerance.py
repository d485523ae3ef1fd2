"""Which tolerance is honest: the least that right kernels keep, and the wrong kernels that pass under it all the same.

A right kernel is off by its interior roundings, whose size Monte Carlo arithmetic measures for each element, and by one
store. The least pair of atol and rtol, as `torch.testing.assert_close` takes them, allows that and no more. It is for
sums in any order; a pair for one kernel, that of a library, is measured by what that kernel is off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from opproof.harness.reference.question import Expected, Question, make_question, name_outputs
from opproof.harness.reference.rounded_arithmetic import RoundedArithmetic, iter_arithmetics
from opproof.reference_ops import Op
from opproof.reports.tolerance import NmseLimit, Tolerance, ToleranceReport, nmse_of

#: What answers a question.
Kernel: TypeAlias = Callable[[Question], list[Array | None]]
#: Standard deviations of interior rounding that a right element may be off: one in 10^9 is off by more.
HONEST_SIGMAS = 6.0
#: So many times what one kernel was off in a few draws, beside its store, it may be off in a thousand.
KERNEL_MARGIN = 2.0
#: The part of the elements that counts as near 0.
SMALL_PART = 0.1
#: Steps in which rtol is tried, to each doubling.
RTOL_STEPS = 8
#: Doublings of rtol below the largest that are tried.
RTOL_DOUBLINGS = 40
#: What cuts digits off, by its name as a wrong kernel.
TRUNCATED = "digits cut off, not rounded"
#: Digits of a tolerance, which is rounded up.
TOLERANCE_DIGITS = 2


@dataclass(frozen=True)
class DrawnResult:
    """One result of one draw: what is expected of it, and what kernels give that are asked."""

    name: str
    dtype: str
    expected: Expected | None  # None where there is none
    got: Array | None = None  # of the one kernel that is to keep the tolerance
    lower: Mapping[str, Array | None] = field(default_factory=dict)  # of kernels that compute in fewer digits, by name


@dataclass(frozen=True)
class ToleranceDraw:
    """One array of one draw: what is expected, how far a right element may be off, and what wrong kernels give."""

    values: Array
    inside: Array  # the RMS of its roundings before the store
    stored: Array  # how far the store may round
    off: Array | None  # how far the one kernel was off that is asked
    wrong: Mapping[str, Array]


def measure_tolerances(
    drawn: Iterable[DrawnResult], given: Tolerance | NmseLimit | None = None
) -> list[ToleranceReport]:
    """One report for each result of floats, of the least tolerance or of the one `given`.

    Raises UsageError where nothing is rounded, or the kernel that is asked does not answer.
    """
    found: dict[tuple[str, str], list[ToleranceDraw]] = {}
    for result in drawn:
        want = result.expected
        if want is None or want.values.dtype.kind != "f" or want.exact or not want.values.size:
            continue
        found.setdefault((result.name, result.dtype), []).append(_measure_draw(want, result, DTYPES[result.dtype]))
    if not found:
        raise UsageError("no result holds floats that are rounded: compare with torch.equal.")
    return [_report(name, some, DTYPES[dtype], given) for (name, dtype), some in found.items()]


def draw_results(
    case: Case, op: Op, mode: Mode, draws: int, compute: str | None = None, kernel: str = ""
) -> Iterator[DrawnResult]:
    """Yield the results of an operator's case. `kernel`: the backend whose kernel is asked. Raises UsageError."""
    ask = load_kernel(kernel) if kernel else None
    for seed in range(draws):
        posed = make_question(case.with_seed(seed) if seed else case, op, mode).case_data
        expected = evaluate_expected(posed, compute)
        names = name_outputs(op, len(expected)) if mode is Mode.FORWARD else [str(n) for n in posed.names]
        answer = ask(posed) if ask else [None] * len(expected)
        lower = {
            name: evaluate_results(posed, next(iter_arithmetics(digits, digits, "")))
            for name, digits in name_lower_precisions(case.dtype).items()
        }
        for i, (name, want, got) in enumerate(zip(names, expected, answer, strict=True)):
            yield DrawnResult(name, posed.dtype_of(i), want, got, {n: results[i] for n, results in lower.items()})


def name_lower_precisions(dtype: str) -> dict[str, str]:
    """Those in which a wrong kernel for `dtype` computes and adds up, by its name."""
    return {f"computed and added up in {d}": d for d in (("f16", "bf16") if dtype in ("f32", "f64") else (dtype,))}


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


def _measure_draw(want: Expected, result: DrawnResult, kind: Dtype) -> ToleranceDraw:
    with np.errstate(all="ignore"):
        inside, stored = kind.u * want.scale, kind.u * np.abs(want.values) + kind.subnormal
        off = None if result.got is None else np.abs(np.asarray(result.got, dtype=np.float64) - want.values)
    wrong = {n: np.asarray(round_to(y, kind)) for n, y in list_wrong(want.values).items()}
    wrong[TRUNCATED] = RoundedArithmetic(kind, kind, truncates=True).rounded(want.values)
    wrong |= {n: y for n, y in result.lower.items() if y is not None}
    finite = np.isfinite(want.values) & np.isfinite(inside)
    if off is not None:
        finite &= np.isfinite(off)
    chosen = {n: y[finite] for n, y in wrong.items() if y.shape == finite.shape}
    numbers = (want.values[finite], inside[finite], stored[finite])
    return ToleranceDraw(*numbers, off if off is None else off[finite], chosen)


def _report(
    name: str, draws: Sequence[ToleranceDraw], kind: Dtype, given: Tolerance | NmseLimit | None
) -> ToleranceReport:
    parts = ("values", "inside", "stored")
    values, inside, stored = (np.concatenate([getattr(d, part) for d in draws]) for part in parts)
    size, usual = np.abs(values), np.hypot(inside, stored / math.sqrt(3))  # errors of a store are uniform
    error = HONEST_SIGMAS * inside + stored
    if known := [d.off for d in draws if d.off is not None]:
        usual = np.concatenate(known)
        error = stored + KERNEL_MARGIN * np.maximum(_accumulate_largest(usual, size) - stored, 0)
    tolerance = given or find_least(size, error)
    allowed = usual if isinstance(tolerance, NmseLimit) else error
    times = tolerance.excess_of(allowed, values) if values.size else np.zeros(1)
    with np.errstate(all="ignore"):
        relative = np.where(error > 0, error / size, 0.0)
    excess = {
        n: [_measure_excess(d, n, tolerance) for d in draws] for n in dict.fromkeys(n for d in draws for n in d.wrong)
    }
    return ToleranceReport(
        name=name,
        tolerance=tolerance,
        rejected=float(np.mean(times > 1)),
        honest=(float(np.median(times)), float(np.max(times))),
        rtol_alone=float(np.max(relative, initial=0.0)),
        ulp=float(np.max(error / spacing_of(size, kind), initial=0.0)),
        nmse=nmse_of(usual, values),
        passing={n: sum(times <= 1 for times in each) for n, each in excess.items()},
        excess={n: min(each) for n, each in excess.items()},
        draws=len(draws),
    )


def _accumulate_largest(off: Array, size: Array) -> Array:
    """The most that elements as large, or smaller, are off: of few that are near 0 chance says little."""
    order = np.argsort(size)
    largest = np.maximum.accumulate(off[order])
    reach = np.maximum(size, size[order][int(SMALL_PART * (size.size - 1))])
    return np.asarray(largest[np.searchsorted(size[order], reach, side="right") - 1])


def _measure_excess(draw: ToleranceDraw, name: str, tolerance: Tolerance | NmseLimit) -> float:
    """How many times the tolerance a wrong kernel is off, where it is off most; infinite where it gives no number."""
    if name not in draw.wrong:
        return math.inf
    times = tolerance.excess_of(np.abs(draw.wrong[name] - draw.values), draw.values)
    return float(np.max(np.nan_to_num(times, nan=math.inf, posinf=math.inf), initial=0.0))


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
