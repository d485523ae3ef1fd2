"""A case is posed whole, or to be judged a slice at a time, as the judge's memory allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.truth import posed as whole
from opproof.harness.truth.posed import Posed
from opproof.harness.truth.slices.axes import axes_of
from opproof.harness.truth.slices.blocks import results_of
from opproof.harness.truth.slices.room import FEW, MEMORY, Room, is_held_whole, room_of, surely, without_axes
from opproof.harness.truth.slices.stored import elements, stored, templates, with_cotangents
from opproof.reference_ops import Op


@dataclass(frozen=True)
class Pair:
    """The question that is judged, and the same of other data, which is asked before and after it.

    Where there is `room` for slices only, all arrays are in the dtype under test.
    """

    asked: Posed
    other: Posed
    outputs: tuple[Array, ...]  # of the shapes and dtypes of the outputs; no values that are judged
    room: Room | None = None


def pose(case: Case, op: Op, mode: Mode, memory: int = MEMORY, beside: Pair | None = None) -> Pair:
    """Draw the data of `case`, to be judged in `memory` bytes; `beside` is its question in the other mode.

    Raises TooLarge.
    """
    if elements(case) < FEW or surely(elements(case), memory, op):
        pair = _whole(case, op, mode, beside)
        made = sum(y.size for y in pair.outputs)
        if made <= max(FEW, elements(case)) or is_held_whole(made, memory):
            return pair
        del pair  # of a few rows an outer product makes many elements
    axes = axes_of(case, op) if mode is Mode.FORWARD or op.vjp is not None else ()
    asked = stored(case, op, mode) if axes else None
    outputs = None if asked is None else templates(asked, axes)
    if asked is None or outputs is None:
        together = without_axes(elements(case), memory, case)
        pair = _whole(case, op, mode)
        made = max(elements(case), sum(y.size for y in pair.outputs))
        return _together(pair, min(together, without_axes(made, memory, case)))
    if mode is Mode.GRADIENT:
        asked = with_cotangents(asked, axes, outputs)
    room = room_of(asked, axes, results_of(asked, outputs), memory)
    if room.in_one:
        return _whole(case, op, mode)
    other = stored(case, op, mode, variant=1)
    if mode is Mode.GRADIENT:
        other = with_cotangents(other, axes, outputs, asked.needs)
    return Pair(asked, other, outputs, room)


def _together(pair: Pair, runs: int) -> Pair:
    """The pair of which so many noisy runs fit at once."""
    return Pair(pair.asked.given(together=runs), pair.other, pair.outputs)


class Posing(Protocol):
    """Draws the data of a case."""

    def __call__(self, case: Case, op: Op, mode: Mode, memory: int = MEMORY) -> Pair:
        """See `pose`."""
        ...


def _whole(case: Case, op: Op, mode: Mode, beside: Pair | None = None) -> Pair:
    pair = whole.pose(case, op, mode, None if beside is None else whole.Pair(beside.asked, beside.other))
    return Pair(pair.asked, pair.other, pair.other.outputs)
