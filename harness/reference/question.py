"""A case as it is posed: what the operator is given, and what is asked of it; drawn once and handed on.

And what is as right where zero stands for subnormals, read, computed or both, as processors and
compilers may have it (flush-to-zero and denormals-are-zero of x86 and ARM; XLA and CUDA's -ftz=true).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import Any, TypeVar

import numpy as np

from opproof.cases import Case
from opproof.cases._fills.exhaustive import is_every, is_pairs
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.reference.axes import Periods, find_periods
from opproof.harness.reference.data import (
    cotangents_of,
    fill_parameters,
    find_differentiable,
    inputs_of,
    list_arguments,
    order_arguments,
    repeat_slices,
    replace_uncomputable,
    replace_undefined,
)
from opproof.harness.reference.rounded_arithmetic import RoundedArithmetic, flush, unwrap, wrap
from opproof.harness.reference.roundoff import RUNS, ignore_fp_warnings, least_normal_of
from opproof.reference_ops import Op, gradients_of


@dataclass(frozen=True)
class Expected:
    """One expected array with, per element, the error of honest rounding in units of u(dtype)."""

    values: Array  # float64, int64 or bool
    scale: Array  # float64; zeros where the array is exact
    exact: bool = False  # to be met bit for bit
    faithful: bool = False  # interior arithmetic is more precise than what is stored, so that storing rounds once
    each: bool = False  # every element is computed for itself, by few operations
    stored: float | None = None  # where 16-bit intermediates are declared, the most that the RMS of units may be
    spread: float | None = None  # by what factor honest answers are off as a whole (array_bias.py); None: not measured
    leaning: float | None = (
        None  # by how many steps a stored constant has the whole lean (array_bias.py); None: not measured
    )
    held: bool = False  # where the scale is 0 nothing is rounded but by storing: a number of the dtype stays what it is


def evaluate_forward(op: Op, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> tuple[Array, ...]:
    """Outputs in float64 (or int64, bool)."""
    with ignore_fp_warnings():
        return tuple(np.asarray(y) for y in tuple_of(op.forward(*inputs, **params)))


def evaluate_vjp(
    op: Op, inputs: Sequence[Any], params: Mapping[str, Any], cotangents: Sequence[Any], outputs: Sequence[Any]
) -> tuple[Any, ...]:
    """Gradients of every argument, None where there is none; the op must have a vjp. No cotangent where no floats."""
    with ignore_fp_warnings():
        return gradients_of(op, cotangents, outputs, inputs, params)


def has_gradients(
    op: Op, inputs: Sequence[Array | None], params: Mapping[str, Any], outputs: Sequence[Array]
) -> list[bool]:
    """Which arguments the op's vjp has a gradient for, found out on data that is not judged."""
    floats = [v is not None and v.dtype.kind == "f" for v in inputs]
    if op.vjp is not None and sum(v is not None for v in inputs) == 1:
        return floats
    cotangents = [np.ones(y.shape) if y.dtype.kind == "f" else None for y in outputs]
    if op.vjp is None:
        return [f and any(g is not None for g in cotangents) for f in floats]
    return [d is not None for d in evaluate_vjp(op, inputs, params, cotangents, outputs)]


def needs_of(case: Case, op: Op, inputs: Sequence[Array | None], outputs: Sequence[Array]) -> list[bool]:
    """Which arguments have a gradient that the case asks for and the op gives; the data need not be the judged one."""
    asked = find_differentiable(case, op, inputs)
    exist = has_gradients(op, inputs, fill_parameters(case, op), outputs)
    return [a and e for a, e in zip(asked, exist, strict=True)]


T = TypeVar("T")
#: What may change of a question whose data stay.
_OF_NOISE = frozenset({"runs", "together"})


@dataclass(frozen=True)
class Question:
    """One case in one mode with its data. Arrays are float64, rounded to their dtype, or int64, bool."""

    case: Case
    op: Op
    mode: Mode
    names: tuple[str | None, ...]  # of the arguments; None where an optional one is absent
    inputs: tuple[Array | None, ...]
    cotangents: tuple[Array | None, ...]  # of every output, None of those that are not floats; empty in forward mode
    needs: tuple[bool, ...]  # which arguments' gradients are asked for
    runs: int = RUNS  # of noise, for the scale of honest rounding,
    together: int = RUNS  # so many at once
    periods: Periods | None = None  # how its data repeat, where they do,
    period: Question | None = None  # and the question of one period
    multiples: tuple[tuple[int, float], ...] = ()  # of one period: how many terms sums have in the whole (Periods)

    @cached_property
    def params(self) -> Mapping[str, Any]:
        """Every parameter of the operator, defaults filled in."""
        return fill_parameters(self.case, self.op)

    @cached_property
    def outputs(self) -> tuple[Array, ...]:
        """The exact outputs, evaluated when first asked for: a judge asks after the backend has answered."""
        return evaluate_forward(self.op, self.inputs, self.params)

    def of_period(self, multiples: tuple[tuple[int, float], ...]) -> Question:
        """The question of one period of data that repeat, with what is evaluated of it."""
        return _keep_evaluated(self, replace(self, multiples=multiples))

    def weighted(self, cotangents: tuple[Array | None, ...], needs: tuple[bool, ...]) -> Question:
        """The same of other cotangents and needs, with what is evaluated of the inputs."""
        made = _keep_evaluated(self, replace(self, cotangents=cotangents, needs=needs))
        if "noisy" in made.__dict__:
            made.__dict__["noisy"] = dict(made.noisy)  # each goes on from the same noisy forward
        return made

    def dtype_of(self, number: int) -> str:
        """The dtype of the result of that number: of a gradient that of its tensor."""
        uniform = self.mode is Mode.FORWARD or not self.case.mixed
        return self.case.dtype if uniform else self.case.dtype_of(self.names[number])

    def once(self, name: str, found: Callable[[], T]) -> T:
        """The fact called `name`, by `found` when it is first asked for: one that follows from the question alone."""
        if name not in self.facts:
            self.read()
        if name not in self.facts:
            self.facts[name] = found()
        fact: T = self.facts[name]
        return fact

    def read(self) -> None:
        """Take the facts that were kept, if any, into those that are known."""
        while self.unread:
            self.facts.update(self.unread.pop()())

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What is known of the question so far, by name."""
        return {}

    @cached_property
    def unread(self) -> list[Callable[[], Mapping[str, Any]]]:
        """What reads facts that were kept elsewhere: for most answers none is needed."""
        return []

    @cached_property
    def passed(self) -> dict[bytes, Any]:
        """Judgements that nothing is wrong with an answer, by the answer (harness/run/cache/entry.py)."""
        return {}

    @cached_property
    def told(self) -> dict[bytes, Any]:
        """How wrong answers look, by the answer (harness/run/cache/entry.py)."""
        return {}

    @cached_property
    def noisy(self) -> dict[str | None, Any]:
        """By declared precision the noisy forward that the question of gradients goes on from, where it was kept."""
        return {}

    @cached_property
    def flushed(self) -> tuple[Sequence[Array | None], ...]:
        """What is as right where zero stands for subnormals; asked for where an answer fails."""
        return tuple(evaluate_flushed(self))

    def given(self, **changes: Any) -> Question:
        """The same question of other inputs, cotangents or needs; other data do not repeat."""
        alone = {} if _OF_NOISE.issuperset(changes) else {"periods": None, "period": None}
        return replace(self, **{**alone, **changes})


@dataclass(frozen=True)
class QuestionPair:
    """The question that is judged, and the same of other data, which is asked before and after it."""

    case_data: Question
    decoy_data: Question


def make_question(case: Case, op: Op, mode: Mode, other_mode: QuestionPair | None = None) -> QuestionPair:
    """Draw the data of `case`. Shapes, dtypes and needs are found out on the other data, which are not judged.

    What the question of the other mode, `other_mode`, has of them already is taken from there.
    """
    names = tuple(list_arguments(case, op))
    if other_mode is None or is_every(case.fill) or case.fill == "branches":
        inputs, others = (tuple(order_arguments(case, op, _draw_values(case, op, mode, variant))) for variant in (0, 1))
        other_mode = None
    else:
        inputs, others = other_mode.case_data.inputs, other_mode.decoy_data.inputs
    asked = Question(case, op, mode, names, inputs, (), tuple(find_differentiable(case, op, inputs)))
    other = asked.given(case=draw_other_case(case, op), inputs=others)
    if other_mode is not None:
        asked, other = _keep_evaluated(other_mode.case_data, asked), _keep_evaluated(other_mode.decoy_data, other)
    if mode is Mode.FORWARD:
        return QuestionPair(asked, other)
    needs = tuple(needs_of(case, op, others, other.outputs))
    return QuestionPair(
        _keep_evaluated(asked, asked.given(cotangents=draw_cotangents(case, op, other.outputs, 0), needs=needs)),
        _keep_evaluated(other, other.given(cotangents=draw_cotangents(case, op, other.outputs, 1), needs=needs)),
    )


def draw_other_case(case: Case, op: Op) -> Case:
    """The case as the call of other data has it: where the operator draws, it draws from another number."""
    if not op.drawn_from:
        return case
    start = fill_parameters(case, op)[op.drawn_from]
    return replace(case, params=(*(p for p in case.params if p[0] != op.drawn_from), (op.drawn_from, start + 1)))


def _draw_values(case: Case, op: Op, mode: Mode, variant: int) -> dict[str, Array]:
    values = inputs_of(case, op, variant)
    if is_every(case.fill):
        within = mode is Mode.GRADIENT or (op.domain is not None and not op.facts["BEYOND"] and not is_pairs(case.fill))
        defined = replace_undefined(case, op, values) if within else values
        return replace_uncomputable(case, op, mode, defined)
    if case.fill == "branches" and mode is Mode.GRADIENT:
        values = replace_uncomputable(case, op, mode, values)
        repeat_slices(case, values)
    return values


def draw_cotangents(case: Case, op: Op, outputs: Sequence[Array], variant: int) -> tuple[Array | None, ...]:
    """The cotangents of a case; of one that repeats, those of one period."""
    periods = find_periods(case, op)
    few = None if periods is None else _shrink_outputs(periods, op, outputs)
    if periods is None or few is None:
        return tuple(cotangents_of(case, outputs, variant))
    return repeat_cotangents(periods, op, cotangents_of(periods.case, few, variant), [y.shape for y in outputs])


def _shrink_outputs(periods: Periods, op: Op, outputs: Sequence[Array]) -> list[Array] | None:
    """One period of the outputs of a case that repeats; None where one has no place for each slice."""
    few = []
    for name, y in zip(name_outputs(op, len(outputs)), outputs, strict=True):
        shape = periods.period_of(name, y.shape)
        if shape is None:
            return None
        few.append(y[tuple(map(slice, shape))])
    return few


def repeat_cotangents(
    periods: Periods, op: Op, drawn: Sequence[Array | None], shapes: Sequence[tuple[int, ...]]
) -> tuple[Array | None, ...]:
    """The cotangents of outputs of these `shapes`, from those of one period."""
    of = zip(name_outputs(op, len(drawn)), drawn, shapes, strict=True)
    return tuple(None if g is None else periods.tile(g, name, shape, signed=True) for name, g, shape in of)


def _keep_evaluated(old: Question, new: Question) -> Question:
    """`new`, with what `old` has evaluated already of the same inputs."""
    for name in ("outputs", "noisy"):
        if name in old.__dict__:
            new.__dict__[name] = old.__dict__[name]
    return new


def name_outputs(op: Op, count: int) -> list[str]:
    return list(op.outputs) if len(op.outputs) == count else [f"y{i}" for i in range(count)]


def evaluate_flushed(posed: Question) -> Iterator[Sequence[Array | None]]:
    """Outputs, or gradients, with subnormals taken for zero: read, computed, or both."""
    kind = DTYPES[posed.case.dtype]
    interior = least_normal_of(kind)
    own = [DTYPES[posed.case.dtype_of(name)].tiny for name in posed.names] if posed.case.mixed else repeat(kind.tiny)
    given = zip(posed.inputs, own, strict=False)
    read = posed.given(inputs=tuple(x if x is None or x.dtype.kind != "f" else flush(x, tiny) for x, tiny in given))
    pairs = zip(read.inputs, posed.inputs, strict=True)
    if any(x is not None and y is not None and np.any(x != y) for x, y in pairs if x is not y):
        yield _evaluate_flushing(read, 0.0)
        yield _evaluate_flushing(read, interior)
    yield _evaluate_flushing(posed, interior)


def _evaluate_flushing(posed: Question, tiny: float) -> Sequence[Array | None]:
    """What the operator gives where everything smaller than `tiny` is zero."""
    how = RoundedArithmetic(DTYPES["f64"], DTYPES["f64"], tiny=tiny)

    def wrapped(x: Array | None) -> Array | None:
        return x if x is None or x.dtype.kind != "f" else wrap(flush(x, tiny), how)

    inputs = [wrapped(x) for x in posed.inputs]
    outputs = list(map(unwrap, evaluate_forward(posed.op, inputs, posed.params)))
    if posed.mode is Mode.FORWARD:
        return outputs
    kind = DTYPES[posed.case.dtype]
    stored = [wrapped(round_to(y, kind)) if y.dtype.kind == "f" else y for y in outputs]
    gradients = evaluate_vjp(posed.op, inputs, posed.params, [wrapped(g) for g in posed.cotangents], stored)
    return [unwrap(d) if n else None for d, n in zip(gradients, posed.needs, strict=True)]
