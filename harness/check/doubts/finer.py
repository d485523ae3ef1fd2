"""Outputs in float64 of inputs that are coarser, as float_power's: the reference may round before it widens.

Where its own answer is not within the bound of float64, a candidate that does as it does must not be either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from opproof.core.verdicts import WRONG
from opproof.harness.reference.torch.evaluate import Question, Truth, truth


def as_rounded(question: Question, known: Truth, own: Callable[[Truth], Mapping[Any, Any]]) -> tuple[Question, Truth]:
    """The question and its truth; `own` judges the reference's own answer, and what fails is asked in float32."""
    kinds = [kind for kind in question.kinds if kind]
    if question.compute is not None or "f64" not in question.dtypes or not kinds or "f64" in kinds:
        return question, known
    if not any(judgement.verdict in WRONG for judgement in own(known).values()):
        return question, known
    rounded = replace(question, compute="f32")
    return rounded, truth(rounded)
