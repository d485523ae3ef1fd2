"""Diagnoses, kept by the answer: what is wrong in the same way, bit for bit, looks as it did.

The verdict on it is given anew in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opproof.harness.judge.judgement import Rules
from opproof.harness.judge.outputs import Answer
from opproof.harness.reference.question import Posed
from opproof.harness.run.cache.judged import key_of
from opproof.harness.run.cache.sources import of_diagnoses


@dataclass(frozen=True, slots=True)
class Told:
    """What an error looks like, and what fits beside it."""

    label: str
    said: str
    beside: tuple[tuple[str, str], ...]  # label and sentence of each


def told(posed: Posed, answer: Answer, rules: Rules | None, explain: Callable[[], Told]) -> Told:
    """The diagnosis of a wrong answer: that of the same answer before, or what `explain` says of it."""
    key = of_diagnoses() + key_of(answer, Rules() if rules is None else rules, before=True)
    known: Told | None = posed.told.get(key)
    if known is None:
        known = posed.told[key] = explain()
    return known
