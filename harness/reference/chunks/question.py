"""A case posed whole, or as the judge's memory allows: its data in their own dtypes, drawn a part at a time."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.reference.axes import Axis, Periods, axes_of, find_periods
from opproof.harness.reference.chunks.blocks import one_of, results_of, take_block
from opproof.harness.reference.chunks.memory_budget import (
    BYTES_PER_ELEMENT,
    DEFAULT_MEMORY_BYTES,
    MAX_UNMEASURED_ELEMENTS,
    ChunkPlan,
    count_runs_at_once,
    count_runs_by_peak,
    count_runs_without_axes,
    fits_surely,
    is_held_whole,
    room_of,
)
from opproof.harness.reference.data import (
    inputs_of,
    list_arguments,
    to_dtype,
)
from opproof.harness.reference.question import (
    Question,
    QuestionPair,
    draw_cotangents,
    draw_other_case,
    make_question,
    name_outputs,
    needs_of,
    repeat_cotangents,
)
from opproof.harness.reference.roundoff import RUNS
from opproof.reference_ops import Op


@dataclass(frozen=True)
class LargeQuestionPair(QuestionPair):
    """The same of a case that may be too large: where there is `room` for slices only, arrays are in its dtype."""

    outputs: tuple[Array, ...]  # of the shapes and dtypes of the outputs; no values that are judged
    room: ChunkPlan | None = None


def make_fitting_question(
    case: Case, op: Op, mode: Mode, memory: int = DEFAULT_MEMORY_BYTES, other_mode: LargeQuestionPair | None = None
) -> LargeQuestionPair:
    """Draw the data of `case`, to be judged in `memory` bytes; `other_mode` is its question in the other mode.

    Raises TooLarge.
    """
    periods = find_periods(case, op) if mode is Mode.FORWARD or op.vjp is not None else None
    repeated = None if periods is None else make_repeated_question(case, op, mode, memory, periods, other_mode)
    if repeated is not None:
        return repeated
    if count_elements(case) < MAX_UNMEASURED_ELEMENTS or fits_surely(count_elements(case), memory, op):
        pair = _make_whole_question(case, op, mode, other_mode)
        made = sum(y.size for y in pair.outputs)
        if made <= max(MAX_UNMEASURED_ELEMENTS, count_elements(case)) or is_held_whole(made, memory):
            return pair
        del pair  # of a few rows an outer product makes many elements
    axes = axes_of(case, op) if mode is Mode.FORWARD or op.vjp is not None else ()
    asked = make_stored_question(case, op, mode) if axes else None
    outputs = None if asked is None else make_templates(asked, axes)
    if asked is None or outputs is None:
        together = count_runs_without_axes(count_elements(case), memory, case)
        pair = _make_whole_question(case, op, mode)
        made = max(count_elements(case), sum(y.size for y in pair.outputs))
        together = min(together, count_runs_without_axes(made, memory, case))
        if memory < sys.maxsize and not op.drawn_from:  # of other data: nothing that is judged is known yet
            together = min(together, count_runs_by_peak(pair.decoy_data, memory))
        return replace(pair, case_data=pair.case_data.given(together=together))
    if mode is Mode.GRADIENT:
        asked = with_cotangents(asked, axes, outputs)
    room = room_of(asked, axes, results_of(asked, outputs), memory)
    if room.in_one:
        return _make_whole_question(case, op, mode)
    other = make_stored_question(case, op, mode, variant=1)
    if mode is Mode.GRADIENT:
        other = with_cotangents(other, axes, outputs, asked.needs)
    return LargeQuestionPair(asked, other, outputs, room)


def make_repeated_question(
    case: Case, op: Op, mode: Mode, memory: int, periods: Periods, other_mode: QuestionPair | None = None
) -> LargeQuestionPair | None:
    """The data of a case that repeats, gathered from one period; None where there is no room for that.

    In the dtype of the case where there is no room for what a wrong answer is explained by.
    """
    of_period = None if other_mode is None else (other_mode.case_data.period, other_mode.decoy_data.period)
    known = None if of_period is None or None in of_period else QuestionPair(*filter(None, of_period))
    few = make_question(periods.case, op, mode, known)
    names = name_outputs(op, len(few.decoy_data.outputs))
    shapes = [periods.shape_of(n, y.shape) for n, y in zip(names, few.decoy_data.outputs, strict=True)]
    whole = [shape for shape in shapes if shape is not None]
    drawn = count_elements(periods.case) + sum(y.size for y in few.decoy_data.outputs)
    if len(whole) < len(shapes) or not is_held_whole(drawn, memory):
        return None
    made = count_elements(case) + 2 * sum(map(math.prod, whole))
    held = 2 * made * BYTES_PER_ELEMENT <= memory
    outputs = tuple(
        np.broadcast_to(np.zeros((), y.dtype), shape) for y, shape in zip(few.decoy_data.outputs, whole, strict=True)
    )
    together = RUNS if memory >= sys.maxsize else count_runs_at_once(made, memory)

    def repeat(one: Question, case: Case) -> Question:
        def tile(v: Array | None, name: str | None) -> Array | None:
            if v is None or name is None:
                return None
            return periods.tile(v if held else to_dtype(v, case.dtype_of(name)), name, case.shapes[name])

        inputs = tuple(tile(v, name) for v, name in zip(one.inputs, one.names, strict=True))
        given = [g if held or g is None else to_dtype(g, case.dtype) for g in one.cotangents]
        cotangents = repeat_cotangents(periods, op, given, whole) if given else ()
        period = one.of_period(periods.multiples)
        return Question(
            case, op, mode, one.names, inputs, cotangents, one.needs,
            together=together, periods=periods, period=period,
        )  # fmt: skip

    asked = repeat(few.case_data, case)
    other = repeat(few.decoy_data, draw_other_case(case, op))
    room = None if held else ChunkPlan(tuple(r.axis for r in periods.repeats), (), {}, memory)
    return LargeQuestionPair(asked, other, outputs, room)


class Posing(Protocol):
    """Draws the data of a case."""

    def __call__(self, case: Case, op: Op, mode: Mode, memory: int = DEFAULT_MEMORY_BYTES) -> LargeQuestionPair:
        """See `make_fitting_question`."""
        ...


def _make_whole_question(
    case: Case, op: Op, mode: Mode, other_mode: LargeQuestionPair | None = None
) -> LargeQuestionPair:
    pair = make_question(case, op, mode, other_mode)
    return LargeQuestionPair(pair.case_data, pair.decoy_data, pair.decoy_data.outputs)


def make_stored_question(case: Case, op: Op, mode: Mode, variant: int = 0) -> Question:
    """`case` with its inputs, of the same values as in any other form, but no cotangents yet."""
    names = tuple(list_arguments(case, op))
    values = inputs_of(case, op, variant)
    inputs = tuple(None if name is None else to_dtype(values[name], case.dtype_of(name)) for name in names)
    return Question(case, op, mode, names, inputs, (), tuple(v is not None for v in inputs))


def make_templates(posed: Question, axes: Sequence[Axis]) -> tuple[Array, ...] | None:
    """Arrays of the outputs' shapes and dtypes, found out on one slice; None where an axis is none of an output."""
    one = take_block(posed, axes, tuple((0, 1) for _ in axes))
    outputs = []
    for name, y in zip(name_outputs(posed.op, len(one.outputs)), one.outputs, strict=True):
        shape = list(y.shape)
        for axis in axes:
            at = axis.within(name, y.shape)
            if at is None or shape[at] != 1:
                return None
            shape[at] = axis.extent
        outputs.append(np.broadcast_to(np.zeros((), y.dtype), shape))
    return tuple(outputs)


def find_templates(case: Case, op: Op) -> tuple[Array, ...] | None:
    """Templates of a case of which nothing is drawn but one slice; None where no slices are independent."""
    axes = axes_of(case, op)
    return make_templates(make_stored_question(one_of(case, axes), op, Mode.FORWARD), axes) if axes else None


def with_cotangents(
    posed: Question, axes: Sequence[Axis], outputs: Sequence[Array], needs: tuple[bool, ...] | None = None
) -> Question:
    """`posed` with cotangents of all outputs that are floats, and the gradients that there are.

    With `needs`, those of the question that is judged, it is the one of other data.
    """
    case, variant = posed.case, 0 if needs is None else 1
    drawn = draw_cotangents(case, posed.op, outputs, variant)
    if needs is None:
        one = take_block(posed, axes, tuple((0, 1) for _ in axes))
        needs = tuple(needs_of(case, posed.op, one.inputs, one.outputs))
    return posed.given(cotangents=tuple(None if g is None else to_dtype(g, case.dtype) for g in drawn), needs=needs)


def count_elements(case: Case) -> int:
    """Elements of all input tensors."""
    return sum(math.prod(shape) for shape in case.shapes.values())
