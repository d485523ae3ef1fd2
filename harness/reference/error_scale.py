"""By how much honest rounding moves results: the reference in noisy arithmetic, so many runs of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from opproof.cases._fills.exhaustive import is_every
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.reference.array_bias import sample_elements, varies
from opproof.harness.reference.montecarlo.array import NoisyArray, Source
from opproof.harness.reference.montecarlo.sampling import (
    MAX_ORTHOGONAL_ROUNDINGS,
    Counting,
    Orthogonal,
    Pooled,
    count_runs,
)
from opproof.harness.reference.roundoff import (
    COMPUTE_U,
    DELTA,
    ONE_STORE_RMS,
    RUNS,
    compute_roundoff,
    ignore_fp_warnings,
    least_normal_of,
)
from opproof.reference_ops import Trait, gradients_of

if TYPE_CHECKING:
    from opproof.harness.reference.question import Question


#: Passes of RUNS each in noise of its real size.
NOISE_PASSES = 4
#: Beyond it, and below its reciprocal, the square of a deviation comes near the ends of float64.
MAX_SQUARABLE_DEVIATION = 2.0**400
#: Of what noise moves an element by, the part that it moves all elements by together, where they share one error: two
#: rows, each with an error of its own, have the root of a half.
MIN_SHARED_BIAS = 0.72
#: Bytes of a noisy forward up to which it is kept for the gradients of the same case.
MAX_KEPT_FORWARD_BYTES = 2**26


@dataclass(frozen=True)
class Deviation:
    """Of one result: the root mean square over the runs, and where wholes are looked at each run's, `sampled`."""

    root: Array
    few: tuple[Array, ...] = ()


def measure_deviations(posed: Question, declared: str | None) -> list[Deviation | None]:
    """By how much noisy runs of every result deviate, `posed.together` of them at once; None: not noisy.

    Squares are added up as the runs come: of large tensors the runs are gigabytes.
    """
    if orthogonal := _choose_orthogonal(posed, declared):
        runs = orthogonal.runs
        return [_take_mean(d, runs) for d in map(_deviation_of, _evaluate_noisy(posed, orthogonal))]
    whole = declared == "storage" and DTYPES[posed.case.dtype].narrow and _varies(posed)
    if posed.together >= posed.runs:
        return [_take_mean(_deviation_of(r, whole=whole), posed.runs) for r in _evaluate_noisy_at_once(posed, declared)]
    totals: list[Deviation | None] = []
    for first in range(0, posed.runs, posed.together):
        results = _evaluate_noisy(posed, _make_source(posed, declared, first, min(posed.together, posed.runs - first)))
        more = [_deviation_of(result, whole=whole) for result in results]
        totals = [_sum(t, d) for t, d in zip(totals, more, strict=True)] if totals else more
    return [_take_mean(total, posed.runs) for total in totals]


def measure_flushing_loss(posed: Question) -> list[Array | None]:
    """By how much results deviate, RMS, where each on the way is off by the least normal number; None: not noisy.

    A kernel takes for zero what it holds in its own formula, products within a sum too, which is another part of what
    is small than the reference's. Numbers that are spaced evenly below tiny / u are rounded by about tiny.
    """
    dtype = DTYPES[posed.case.dtype]
    interior = compute_roundoff(dtype, None)
    totals: list[Deviation | None] = []
    for first in range(0, RUNS, min(posed.together, RUNS)):
        source = _make_source(posed, None, first, min(posed.together, RUNS - first))
        tiny = least_normal_of(dtype) / interior
        more = [_deviation_of(result) for result in _evaluate_noisy(posed, replace(source, tiny=tiny))]
        totals = [_sum(t, d) for t, d in zip(totals, more, strict=True)] if totals else more
    real = max(interior, dtype.u) / DELTA
    return [None if d is None else d.root * real for d in (_take_mean(total, RUNS) for total in totals)]


def measure_reach(posed: Question, declared: str | None) -> list[tuple[Array, Array] | None]:
    """Of every result the least and the largest number in noise of the declared size; None of what is not noisy.

    A normal draw for what is even between none and one roundoff to either side, of the same variance.
    """
    dtype = DTYPES[posed.case.dtype]
    size = ONE_STORE_RMS * max(compute_roundoff(dtype, declared), dtype.u)
    ends: list[tuple[Array, Array] | None] = []
    for first in range(0, NOISE_PASSES * RUNS, min(posed.together, RUNS)):
        results = _evaluate_noisy(posed, _make_source(posed, declared, first, min(posed.together, RUNS), size))
        found = [_ends_of(r) for r in results]
        ends = found if not ends else [_join_ends(a, b) for a, b in zip(ends, found, strict=True)]
    return ends


def measure_shared_bias(posed: Question, declared: str | None) -> list[float]:
    """By how many roundoffs noise moves all elements of a result together, away from zero: the RMS over the runs.

    0 where that is not nearly all by which it moves one of them: there elements, or rows, err apart.
    """
    dtype = DTYPES[posed.case.dtype]
    size = max(compute_roundoff(dtype, declared), dtype.u)
    together = min(posed.together, RUNS)
    found = []
    for result in _evaluate_noisy(posed, _make_source(posed, declared, 0, together)):
        if not isinstance(result, NoisyArray):
            found.append(0.0)
            continue
        with np.errstate(all="ignore"):
            off = (result.runs - result.exact) * (size / DELTA)
            scale = np.sqrt(np.mean(np.square(off), axis=0)) + dtype.u * np.abs(result.exact)
            units = np.sign(result.exact) * off / scale
            counted = [run[np.isfinite(run)] for run in units]
        means, squares = ([f(run) for run in counted if run.size] for f in (np.mean, lambda run: np.mean(run * run)))
        bias, rms = (float(np.sqrt(np.mean(v))) if v else 0.0 for v in (np.square(means).tolist(), squares))
        found.append(bias if bias > MIN_SHARED_BIAS * rms else 0.0)
    return found


def _evaluate_noisy(posed: Question, source: Source) -> Sequence[Any]:
    wrapped, outputs = _evaluate_noisy_forward(posed, source)
    return outputs if posed.mode is Mode.FORWARD else _evaluate_noisy_vjp(posed, wrapped, outputs, source)


def _evaluate_noisy_forward(posed: Question, source: Source) -> tuple[list[Any], Sequence[Any]]:
    with ignore_fp_warnings():
        wrapped = _wrap(source, posed.inputs)
        return wrapped, tuple_of(posed.op.forward(*wrapped, **posed.params))


def _evaluate_noisy_vjp(
    posed: Question, wrapped: Sequence[Any], outputs: Sequence[Any], source: Source
) -> Sequence[Any]:
    """The gradients in noisy arithmetic, from what `_evaluate_noisy_forward` gave."""
    with ignore_fp_warnings():
        saved = [y.store() if isinstance(y, NoisyArray) else y for y in outputs]
        cotangents = [None if g is None else source.wrap(g) for g in posed.cotangents]
        return gradients_of(posed.op, cotangents, saved, wrapped, posed.params)


def _evaluate_noisy_at_once(posed: Question, declared: str | None) -> Sequence[Any]:
    """`_evaluate_noisy` of all runs at once; gradients go on from the forward where that was asked before, and was
    kept.
    """
    if posed.mode is Mode.GRADIENT and declared in posed.noisy:
        return _evaluate_noisy_vjp(posed, *posed.noisy.pop(declared))
    source = _make_source(posed, declared, 0, posed.runs)
    wrapped, outputs = _evaluate_noisy_forward(posed, source)
    if posed.mode is Mode.GRADIENT:
        return _evaluate_noisy_vjp(posed, wrapped, outputs, source)
    if sum(v.runs.nbytes for v in (*wrapped, *outputs) if isinstance(v, NoisyArray)) <= MAX_KEPT_FORWARD_BYTES:
        posed.noisy[declared] = wrapped, outputs, source
    return outputs


def _ends_of(result: Any) -> tuple[Array, Array] | None:
    if not isinstance(result, NoisyArray):
        return None
    return np.fmin.reduce(result.runs, axis=0), np.fmax.reduce(result.runs, axis=0)


def _join_ends(a: tuple[Array, Array] | None, b: tuple[Array, Array] | None) -> tuple[Array, Array] | None:
    return a if a is None or b is None else (np.fmin(a[0], b[0]), np.fmax(a[1], b[1]))


def _varies(posed: Question) -> bool:
    """Whether inputs hold enough different numbers: of the same few, again and again, all roundings lean alike."""
    floats = [v for v in posed.inputs if v is not None and v.dtype.kind == "f"]
    return any(map(varies, floats))


def _deviation_of(result: Any, *, whole: bool = False) -> Deviation | None:
    """The root of the sum over runs of squared deviations; None of what is not noisy."""
    if not isinstance(result, NoisyArray):
        return None
    with np.errstate(all="ignore"):
        off = result.runs - result.exact
        few = tuple(sample_elements(run).copy() for run in off) if whole else ()
        root = np.asarray(np.sqrt(np.sum(np.square(off, out=off), axis=0)))
        lost = ~((root > 1 / MAX_SQUARABLE_DEVIATION) & (root < MAX_SQUARABLE_DEVIATION))
        if lost.any():
            root[lost] = np.hypot.reduce(result.runs[:, lost] - result.exact[lost], axis=0)
        return Deviation(root, few)


def _sum(a: Deviation | None, b: Deviation | None) -> Deviation | None:
    return b if a is None or b is None else Deviation(np.hypot(a.root, b.root), a.few + b.few)


def _take_mean(total: Deviation | None, runs: int) -> Deviation | None:
    return None if total is None else replace(total, root=total.root / np.sqrt(runs))


def _choose_orthogonal(posed: Question, declared: str | None) -> Source | None:
    """Noise that is the same for all elements, one run a rounding, where that says as much; None where it does not.

    Every number of a dtype is tried at once only by operators that map each element for itself.
    """
    if not is_every(posed.case.fill) or Trait.POINTWISE not in posed.op.traits:
        return None
    source = _make_source(posed, declared, 0, RUNS)
    roundings = _count_roundings(posed, source)
    if roundings > MAX_ORTHOGONAL_ROUNDINGS:
        return None
    runs = count_runs(roundings)
    return replace(source, draws=Orthogonal(runs), runs=runs)


def _count_roundings(posed: Question, source: Source) -> int:
    """How often the reference rounds, found out on the first slice of every tensor."""
    counting = Counting()

    def first(arrays: Sequence[Array | None]) -> tuple[Array | None, ...]:
        return tuple(v if v is None or not v.ndim else v[:1] for v in arrays)

    few = posed.given(inputs=first(posed.inputs), cotangents=first(posed.cotangents))
    _evaluate_noisy(few, replace(source, draws=counting, runs=1))
    return counting.count


def _make_source(posed: Question, declared: str | None, first: int, runs: int, size: float = DELTA) -> Source:
    """The source of noise from run `first` on, of which interior or storage noise, the larger, is `size`."""
    case, multiples = posed.case, posed.multiples
    dtype = DTYPES[case.dtype]
    interior = compute_roundoff(dtype, declared)
    larger = max(interior, dtype.u)
    key = int.from_bytes(hashlib.blake2b(f"{case}|noise{first or ''}".encode(), digest_size=16).digest(), "little")
    summing = min(interior, COMPUTE_U["f32"]) if declared in ("storage", "q8") else interior
    own = declared in ("storage", dtype.name) or dtype.name == "f64"  # what lies on the way has its exponents
    tiny = dtype.tiny if own else DTYPES["f32"].tiny
    stored = size * dtype.u / larger * (ONE_STORE_RMS if interior < dtype.u else 1.0)
    narrow = summing == COMPUTE_U["f32"]
    double = summing == COMPUTE_U["f64"]
    amplitudes = size * interior / larger, size * summing / larger
    return Source(Pooled(key), runs, *amplitudes, tiny, narrow, double, multiples, (stored, dtype.tiny))


def _wrap(source: Source, inputs: Sequence[Array | None]) -> list[Any]:
    """Inputs as noisy arrays, rounded once at interior precision; one array given twice stays one."""
    wrapped: dict[int, NoisyArray] = {}
    for v in inputs:
        if v is not None and v.dtype.kind == "f" and id(v) not in wrapped:
            wrapped[id(v)] = source.wrap(v)
    return [v if v is None else wrapped.get(id(v), v) for v in inputs]
