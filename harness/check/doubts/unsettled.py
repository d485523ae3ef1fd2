"""Variants at which formulas differ of which neither is wrong: nothing is left to reduce, or equal elements decide."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from opproof.core.dtypes import DTYPES
from opproof.core.errors import OpError
from opproof.core.verdicts import WRONG, Mode
from opproof.harness.check.questions.fills import NEGATIVE, SATURATING, TIED, TINY, ZEROED
from opproof.harness.check.questions.variants import GIVEN, Variant
from opproof.harness.judge.bound import bound_of
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.torch.alternatives import decided_anew, selects
from opproof.harness.reference.torch.evaluate import Question, Truth


def unsettled(question: Question, variant: Variant, known: Truth, judgements: Mapping[Mode, Judgement]) -> str:
    """Why what is wrong at a variant says nothing of the candidate; empty where it does."""
    if _of_nothing(variant, judgements):
        return "the candidate answers NaN where it is left nothing to reduce"
    if _of_equals(variant, known, judgements):
        return "which of equal elements are taken decides, and the candidate takes others, or more of them"
    wrong = any(j.verdict in WRONG for j in judgements.values())
    if variant.fill == TINY and wrong and _rounding_decides(question, known):
        return "numbers are equal there but for their rounding, which decides"
    return ""


def _rounding_decides(question: Question, known: Truth) -> bool:
    """Whether deciding otherwise, as noise does, leaves a bound: of all but equal values who takes all is right too.

    So it is where a reference chooses by numbers so small that their exponentials are equal, whose others choose by.
    """
    if selects(question):
        return True
    try:
        ends = decided_anew(question)
    except OpError:  # it takes other steps
        return True
    each = zip(ends, (*known.outputs, *known.gradients), question.results, strict=True)
    return any(
        end is not None and e is not None and bool(np.any(end.high - end.low > bound_of(e, DTYPES[kind or "f32"])))
        for end, e, kind in each
    )


def _of_equals(variant: Variant, known: Truth, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether values are wrong where the reference has others if it takes the last of equals, as a cut of top-p does.

    Who keeps all that are equal is right as well, and divides by another sum. In 16 bits many
    numbers about -100 are equal too.
    """
    chosen = any(o is not None and bool(np.any(o)) for o in known.open[: len(known.outputs)])
    if variant.fill in (TINY, ZEROED):  # where all but a few are equal, gradients go to whichever are taken
        return chosen and any(j.verdict in WRONG for j in judgements.values())
    equal = variant.fill == TIED or variant.fill.endswith(SATURATING) or variant.name == NEGATIVE
    return equal and chosen and judgements[Mode.FORWARD].verdict in WRONG


def _of_nothing(variant: Variant, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether a size became 0, and all that is wrong is NaN: an answer that says so, as an error would."""
    wrong = [j for j in judgements.values() if j.verdict in WRONG]
    if variant.name == GIVEN or not wrong or not any(0 in t.shape for t in variant.asked):
        return False
    return all(
        j.tensors and all(np.isnan(t.got[~t.comparison.passed]).all() for t in j.tensors if t.got.dtype.kind == "f")
        for j in wrong
    )
