"""Sizes of 0: what is reduced over nothing is 0 in one formula and 0 / 0 in another, and neither is wrong."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from opproof.harness.check.variants import GIVEN, Variant
from opproof.harness.judge.judgement import Judgement
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import WRONG


def of_nothing(variant: Variant, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether a size became 0, and all that is wrong is NaN: an answer that says so, as an error would."""
    wrong = [j for j in judgements.values() if j.verdict in WRONG]
    if variant.name == GIVEN or not wrong or not any(0 in t.shape for t in variant.asked):
        return False
    return all(
        j.tensors and all(np.isnan(t.got[~t.comparison.passed]).all() for t in j.tensors if t.got.dtype.kind == "f")
        for j in wrong
    )
