"""Expected values and gradients of a case, and the scale of honest rounding for each element."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from opproof.cases import Case
from opproof.cases._every import is_every
from opproof.harness.truth.data import differentiable, parameters
from opproof.harness.truth.noise.array import Noisy, Source
from opproof.harness.truth.noise.orthogonal import MOST, Counting, Orthogonal, runs_for
from opproof.harness.truth.noise.pool import Pooled
from opproof.reference_ops import Op, Trait, gradients_of
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES, Dtype, round_to
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.several import tuple_of

if TYPE_CHECKING:  # a posed case evaluates its outputs by this file
    from opproof.harness.truth.posed import Posed

#: Noisy runs per case, and the amplitude of the larger of the two roundings.
RUNS = 16
DELTA = 2.0**-30
#: Passes of RUNS each in noise of its real size.
PASSES = 4
#: Bytes of a noisy forward up to which it is kept for the gradients of the same case.
KEPT = 2**26
#: The RMS of what one store loses, in roundoffs, where it alone is of its size: anything between none and 1.
ONCE = 3.0**-0.5

#: Roundoff of precisions in which a backend may declare to compute. q8: half a step is 1/254 of a block's largest.
COMPUTE_U = {"f64": 2.0**-53, "f32": 2.0**-24, "tf32": 2.0**-11, "f16": 2.0**-11, "bf16": 2.0**-8, "q8": 2.0**-8}


@dataclass(frozen=True)
class Expected:
    """One expected array with, per element, the error of honest rounding in units of u(dtype)."""

    values: Array  # float64, int64 or bool
    scale: Array  # float64; zeros where the array is exact
    exact: bool = False  # to be met bit for bit
    faithful: bool = False  # interior arithmetic is more precise than what is stored, so that storing rounds once
    each: bool = False  # every element is computed for itself, by few operations
    stored: bool = False  # by declaration what lies between steps is stored in 16 bits
    spread: float | None = None  # by what factor honest answers are off as a whole (slope.py); None: not measured
    held: bool = False  # where the scale is 0 nothing is rounded but by storing: a number of the dtype stays what it is


def compute_roundoff(dtype: Dtype, declared: str | None) -> float:
    """Unit roundoff of interior operations: float32 for 16-bit dtypes, else the dtype, unless declared.

    "storage": what passes between kernels is rounded to the dtype, sums are still accumulated in float32.
    "q8": inputs are rounded to blocks of 8 bits, sums of their products are accumulated in float32 or in integers.
    A dtype's name: all arithmetic, accumulation included, has that precision.
    """
    if declared == "storage":
        return dtype.u
    if declared is not None:
        return max(COMPUTE_U[declared], dtype.u if dtype.name in ("f64", "f32") else 0)
    return min(dtype.u, COMPUTE_U["f32"])


@contextmanager
def quiet() -> Iterator[None]:
    """NaN, infinity and empty means are answers here, not accidents."""
    with np.errstate(all="ignore"):
        if _unheard():
            yield
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            yield


def _unheard() -> bool:
    """Whether warnings go unheard as it is: in a judge all do, and within `quiet`. To change that takes its time."""
    action, message, category, module, line = warnings.filters[0] if warnings.filters else ("", None, Warning, None, 0)
    everywhere = message is None and module is None and line == 0
    return action == "ignore" and everywhere and issubclass(RuntimeWarning, category)


def forward(op: Op, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> tuple[Array, ...]:
    """Outputs in float64 (or int64, bool)."""
    with quiet():
        return tuple(np.asarray(y) for y in tuple_of(op.forward(*inputs, **params)))


def vjp(
    op: Op, inputs: Sequence[Any], params: Mapping[str, Any], cotangents: Sequence[Any], outputs: Sequence[Any]
) -> tuple[Any, ...]:
    """Gradients of every argument, None where there is none; the op must have a vjp. No cotangent where no floats."""
    with quiet():
        return gradients_of(op, cotangents, outputs, inputs, params)


def gradients_exist(
    op: Op, inputs: Sequence[Array | None], params: Mapping[str, Any], outputs: Sequence[Array]
) -> list[bool]:
    """Which arguments the op's vjp has a gradient for, found out on data that is not judged."""
    floats = [v is not None and v.dtype.kind == "f" for v in inputs]
    if op.vjp is not None and sum(v is not None for v in inputs) == 1:
        return floats
    cotangents = [np.ones(y.shape) if y.dtype.kind == "f" else None for y in outputs]
    if op.vjp is None:
        return [f and any(g is not None for g in cotangents) for f in floats]
    return [d is not None for d in vjp(op, inputs, params, cotangents, outputs)]


def needs_of(case: Case, op: Op, inputs: Sequence[Array | None], outputs: Sequence[Array]) -> list[bool]:
    """Which arguments have a gradient that the case asks for and the op gives; the data need not be the judged one."""
    asked = differentiable(case, op, inputs)
    exist = gradients_exist(op, inputs, parameters(case, op), outputs)
    return [a and e for a, e in zip(asked, exist, strict=True)]


def expected_of(posed: Posed, declared: str | None = None) -> list[Expected | None]:
    """Expected outputs, or gradients where needed, with the scale of honest rounding; the op must have a vjp then."""
    return [*expected_forward(posed, declared)] if posed.mode is Mode.FORWARD else expected_vjp(posed, declared)


def expected_forward(posed: Posed, declared: str | None = None) -> list[Expected]:
    """Expected outputs, with the scale of honest rounding, whatever the mode that is posed."""
    posed = posed if posed.mode is Mode.FORWARD else posed.given(mode=Mode.FORWARD)
    if is_bitwise(posed):
        return [unscaled(posed, v) for v in posed.outputs]
    if posed.op.reference is not None:
        from opproof.harness.truth.torch.posed import expected

        return [*expected(posed, declared).outputs]
    squares = _deviations(posed, declared)
    dtype = DTYPES[posed.case.dtype]
    scaled = map(partial(_scaled, posed, declared, dtype), posed.outputs, squares)
    return [replace(e, held=e.faithful and s is not None) for e, s in zip(scaled, squares, strict=True)]


def expected_vjp(posed: Posed, declared: str | None = None) -> list[Expected | None]:
    """Expected gradients of the inputs where needed, with the scale of honest rounding."""
    if posed.op.reference is not None and not is_bitwise(posed):
        from opproof.harness.truth.torch.posed import expected

        return [*expected(posed, declared).gradients]
    values = values_of(posed)
    if is_bitwise(posed):
        return [None if v is None else unscaled(posed, v) for v in values]
    squares = _deviations(posed, declared)
    kinds = [DTYPES[posed.dtype_of(i)] for i in range(len(values))]
    return [
        None if v is None else _scaled(posed, declared, kind, v, s)
        for kind, v, s in zip(kinds, values, squares, strict=True)
    ]


def values_of(posed: Posed) -> list[Array | None]:
    """Expected outputs, or gradients where needed, without their scale: one evaluation."""
    if posed.mode is Mode.FORWARD:
        return [*posed.outputs]
    exact = vjp(posed.op, posed.inputs, posed.params, posed.cotangents, posed.outputs)
    return [np.asarray(v) if n else None for v, n in zip(exact, posed.needs, strict=True)]


def _noisy(posed: Posed, source: Source, stored: float) -> Sequence[Any]:
    """Outputs, or gradients, in noisy arithmetic."""
    wrapped, outputs = _noisy_forward(posed, source)
    return outputs if posed.mode is Mode.FORWARD else _noisy_vjp(posed, wrapped, outputs, source, stored)


def _noisy_forward(posed: Posed, source: Source) -> tuple[list[Any], Sequence[Any]]:
    """The inputs and the outputs in noisy arithmetic."""
    with quiet():
        wrapped = _wrap(source, posed.inputs)
        return wrapped, tuple_of(posed.op.forward(*wrapped, **posed.params))


def _noisy_vjp(
    posed: Posed, wrapped: Sequence[Any], outputs: Sequence[Any], source: Source, stored: float
) -> Sequence[Any]:
    """The gradients in noisy arithmetic, from what `_noisy_forward` gave."""
    with quiet():
        saved = [_store(y, stored, DTYPES[posed.case.dtype]) for y in outputs]
        cotangents = [None if g is None else source.wrap(g) for g in posed.cotangents]
        return gradients_of(posed.op, cotangents, saved, wrapped, posed.params)


def _noisy_at_once(posed: Posed, declared: str | None) -> Sequence[Any]:
    """`_noisy` of all runs at once; gradients go on from the forward where that was asked before, and was kept."""
    if posed.mode is Mode.GRADIENT and declared in posed.noisy:
        return _noisy_vjp(posed, *posed.noisy.pop(declared))
    source, stored = _sources(posed.case, declared, 0, posed.runs)
    wrapped, outputs = _noisy_forward(posed, source)
    if posed.mode is Mode.GRADIENT:
        return _noisy_vjp(posed, wrapped, outputs, source, stored)
    if sum(v.runs.nbytes for v in (*wrapped, *outputs) if isinstance(v, Noisy)) <= KEPT:
        posed.noisy[declared] = wrapped, outputs, source, stored
    return outputs


def _deviations(posed: Posed, declared: str | None) -> list[Array | None]:
    """Of every result the mean square by which noisy runs deviate, `posed.together` of them at once; None: not noisy.

    Squares are added up as the runs come: of large tensors the runs are gigabytes.
    """
    if orthogonal := _orthogonal(posed, declared):
        runs = orthogonal[0].runs
        return [None if s is None else s / runs for s in map(_squares, _noisy(posed, *orthogonal))]
    if posed.together >= posed.runs:
        return [None if s is None else s / posed.runs for s in map(_squares, _noisy_at_once(posed, declared))]
    sums: list[Array | None] = []
    for first in range(0, posed.runs, posed.together):
        results = _noisy(posed, *_sources(posed.case, declared, first, min(posed.together, posed.runs - first)))
        squares = [_squares(result) for result in results]
        totals = sums or [None] * len(squares)
        sums = [s if t is None or s is None else t + s for t, s in zip(totals, squares, strict=True)]
    return [None if total is None else total / posed.runs for total in sums]


def reached(posed: Posed, declared: str) -> list[tuple[Array, Array] | None]:
    """Of every result the least and the largest number in noise of the declared size; None of what is not noisy.

    A normal draw for what is even between none and one roundoff to either side, of the same variance.
    """
    dtype = DTYPES[posed.case.dtype]
    size = ONCE * max(compute_roundoff(dtype, declared), dtype.u)
    ends: list[tuple[Array, Array] | None] = []
    for first in range(0, PASSES * RUNS, min(posed.together, RUNS)):
        results = _noisy(posed, *_sources(posed.case, declared, first, min(posed.together, RUNS), size))
        found = [_ends(r) for r in results]
        ends = found if not ends else [_joined(a, b) for a, b in zip(ends, found, strict=True)]
    return ends


def _ends(result: Any) -> tuple[Array, Array] | None:
    if not isinstance(result, Noisy):
        return None
    return np.fmin.reduce(result.runs, axis=0), np.fmax.reduce(result.runs, axis=0)


def _joined(a: tuple[Array, Array] | None, b: tuple[Array, Array] | None) -> tuple[Array, Array] | None:
    return a if a is None or b is None else (np.fmin(a[0], b[0]), np.fmax(a[1], b[1]))


def _squares(result: Any) -> Array | None:
    """The sum over runs of squared deviations; None of what is not noisy."""
    if not isinstance(result, Noisy):
        return None
    with np.errstate(all="ignore"):
        deviations = result.runs - result.exact
        return np.asarray(np.sum(np.square(deviations, out=deviations), axis=0))


def _orthogonal(posed: Posed, declared: str | None) -> tuple[Source, float] | None:
    """Noise that is the same for all elements, one run a rounding, where that says as much; None where it does not.

    Every number of a dtype is tried at once only by operators that map each element for itself.
    """
    if not is_every(posed.case.fill) or Trait.POINTWISE not in posed.op.traits:
        return None
    source, stored = _sources(posed.case, declared, 0, RUNS)
    roundings = _roundings(posed, source, stored)
    if roundings > MOST:
        return None
    runs = runs_for(roundings)
    return replace(source, draws=Orthogonal(runs), runs=runs), stored


def _roundings(posed: Posed, source: Source, stored: float) -> int:
    """How often the reference rounds, found out on the first slice of every tensor."""
    counting = Counting()

    def first(arrays: Sequence[Array | None]) -> tuple[Array | None, ...]:
        return tuple(v if v is None or not v.ndim else v[:1] for v in arrays)

    few = posed.given(inputs=first(posed.inputs), cotangents=first(posed.cotangents))
    _noisy(few, replace(source, draws=counting, runs=1), stored)
    return counting.count


def is_bitwise(posed: Posed) -> bool:
    """Whether no result of the case commits a rounding error."""
    op, mode = posed.op, posed.mode
    whole = DTYPES[posed.case.dtype].whole or (op.multilinear and posed.case.fill in ("exact", "signs"))
    return whole or op.is_exact(mode)


def unscaled(posed: Posed, values: Array) -> Expected:
    """What is expected where nothing rounds."""
    # g sign(x) is g x / |x| to some: pointwise arithmetic may round once, what moves elements may not.
    once = posed.mode is Mode.GRADIENT and Trait.POINTWISE in posed.op.traits
    return Expected(values, np.zeros(values.shape), exact=not once, faithful=posed.mode is Mode.GRADIENT)


def _sources(case: Case, declared: str | None, first: int, runs: int, size: float = DELTA) -> tuple[Source, float]:
    """The source of interior noise from run `first` on, and the amplitude of storage noise; the larger is `size`."""
    dtype = DTYPES[case.dtype]
    interior = compute_roundoff(dtype, declared)
    larger = max(interior, dtype.u)
    key = int.from_bytes(hashlib.blake2b(f"{case}|noise{first or ''}".encode(), digest_size=16).digest(), "little")
    summing = min(interior, COMPUTE_U["f32"]) if declared in ("storage", "q8") else interior
    own = declared in ("storage", dtype.name) or dtype.name == "f64"  # what lies on the way has its exponents
    tiny = dtype.tiny if own else DTYPES["f32"].tiny
    stored = size * dtype.u / larger * (ONCE if interior < dtype.u else 1.0)
    narrow = summing == COMPUTE_U["f32"]
    return Source(Pooled(key), runs, size * interior / larger, size * summing / larger, tiny, narrow), stored


def _wrap(source: Source, inputs: Sequence[Array | None]) -> list[Any]:
    """Inputs as noisy arrays, rounded once at interior precision; one array given twice stays one."""
    wrapped: dict[int, Noisy] = {}
    for v in inputs:
        if v is not None and v.dtype.kind == "f" and id(v) not in wrapped:
            wrapped[id(v)] = source.wrap(v)
    return [v if v is None else wrapped.get(id(v), v) for v in inputs]


def _store(y: Any, amplitude: float, dtype: Dtype) -> Any:
    """An output as a backend saves it: rounded to the dtype, to the spacing of subnormals below its range."""
    if not isinstance(y, Noisy):
        return y
    size = np.where((y.exact == 0) | np.isinf(y.exact), 0.0, np.maximum(np.abs(y.exact), dtype.tiny))
    return Noisy(y.exact, y.source.disturbed(y.runs, amplitude * size), y.source)


def _scaled(posed: Posed, declared: str | None, kind: Dtype, values: Array, square: Array | None) -> Expected:
    """The RMS deviation of the runs, in units of u(kind), the result's own dtype, from its square."""
    if values.dtype.kind != "f" or square is None:
        return Expected(values, np.zeros(values.shape), exact=values.dtype.kind != "f")
    dtype = DTYPES[posed.case.dtype]
    larger = max(compute_roundoff(dtype, declared), dtype.u)
    with np.errstate(all="ignore"):
        scale = np.sqrt(square) * (larger / kind.u / DELTA)
    scale = np.where(np.isfinite(scale), scale, 0.0)
    each = Trait.POINTWISE in posed.op.traits
    return Expected(values, _coarse(scale), faithful=is_faithful(posed.case, declared, kind), each=each)


def _coarse(scale: Array) -> Array:
    """`scale` to 8 digits, 0.2 % of what 16 runs leave open by 18 %: a cache holds it in two bytes."""
    rounded: Array = (((np.asarray(scale).view(np.int64) + (1 << 44)) >> 45) << 45).view(np.float64)
    return rounded


def is_faithful(case: Case, declared: str | None, kind: Dtype) -> bool:
    """Whether interior arithmetic is more precise than what is stored, in the dtype `kind`."""
    return compute_roundoff(DTYPES[case.dtype], declared) < kind.u


def saved_overflow(case: Case, outputs: Sequence[Array]) -> bool:
    """Whether an output that a backward saves overflows the case's dtype."""
    dtype = DTYPES[case.dtype]
    return any(bool(np.any(np.isinf(round_to(y, dtype)) & np.isfinite(y))) for y in outputs if y.dtype.kind == "f")
