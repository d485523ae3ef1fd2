"""Operators that draw: what an implementation drew is its own, all else is held against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opproof.core.verdicts import Mode
from opproof.harness.judge.answer import Answer
from opproof.harness.reference.question import Posed


def of_the_draw(posed: Posed, answer: Answer) -> tuple[Posed, str]:
    """The question with the draw of the answer given, and why that is no chance, empty where it may be."""
    outputs = answer.arrays if posed.mode is Mode.FORWARD else answer.drawn
    if not outputs:
        return posed, ""
    before = answer.before if posed.mode is Mode.FORWARD else ()
    return given_the_draw(posed, outputs), unfair(posed, outputs, before)


def given_the_draw(posed: Posed, outputs: Sequence[Any]) -> Posed:
    """The question whose inputs have what was drawn to make `outputs`."""
    assert posed.op.drawn is not None
    return posed.given(inputs=tuple(posed.op.drawn(tuple(outputs), *posed.inputs, **posed.params)))


def unfair(posed: Posed, outputs: Sequence[Any], before: Sequence[Any]) -> str:
    """Why a draw is no chance, in words; `before` are the outputs of another draw, none where there was no other."""
    if posed.op.unfair is None:
        return ""
    return posed.op.unfair(tuple(outputs), tuple(before), *posed.inputs, **posed.params)
