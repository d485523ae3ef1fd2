"""Variants at which formulas differ of which neither is wrong: nothing is left to reduce, or equal elements decide."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from opproof.harness.check.questions.variants import GIVEN, NEGATIVE, TIES, Variant
from opproof.harness.judge.judgement import Judgement
from opproof.harness.truth.torch.evaluate import Truth
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import WRONG

#: Comparisons of numbers: of equals that are computed alike both are taken for one, of a sum and a threshold not.
_COMPARES = frozenset("lt le gt ge searchsorted bucketize".split())


def unsettled(variant: Variant, known: Truth, judgements: Mapping[Mode, Judgement]) -> str:
    """Why what is wrong at a variant says nothing of the candidate; empty where it does."""
    if _of_nothing(variant, judgements):
        return "the candidate answers NaN where it is left nothing to reduce"
    if _of_equals(variant, known, judgements):
        return "which of equal elements are taken decides, and the candidate takes others"
    if variant.name == TIES and _COMPARES & known.flips and judgements[Mode.FORWARD].verdict in WRONG:
        return "the reference compares numbers that are equal but for their rounding, which decides"
    return ""


def _of_equals(variant: Variant, known: Truth, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether values are wrong where the reference has others if it takes the last of equals, as a cut of top-p does.

    Who keeps all that are equal is right as well, and divides by another sum. In 16 bits many
    numbers about -100 are equal too.
    """
    chosen = any(o is not None and bool(np.any(o)) for o in known.open[: len(known.outputs)])
    return variant.name in (TIES, NEGATIVE) and chosen and judgements[Mode.FORWARD].verdict in WRONG


def _of_nothing(variant: Variant, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether a size became 0, and all that is wrong is NaN: an answer that says so, as an error would."""
    wrong = [j for j in judgements.values() if j.verdict in WRONG]
    if variant.name == GIVEN or not wrong or not any(0 in t.shape for t in variant.asked):
        return False
    return all(
        j.tensors and all(np.isnan(t.got[~t.comparison.passed]).all() for t in j.tensors if t.got.dtype.kind == "f")
        for j in wrong
    )
