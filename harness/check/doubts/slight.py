"""Values and sizes that inputs seldom have, at which an answer is off by little more than its bound: nothing is told.

They are tried for floors, zeros and tiles, which show by far. How errors grow with the length of a chain, as of an
online softmax that rescales at each step, or where a floor and a square nearly cancel, is another question.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from opproof.harness.check.questions.variants import Variant
from opproof.harness.judge.bound import Comparison
from opproof.harness.judge.judgement import Judgement
from opproof.vocabulary.dtypes import DTYPES
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import WRONG

#: So many bounds are little: in 32 bits and more, and in fewer, where what lies between the steps has digits to spare.
_LITTLE, _OF_SIXTEEN = 8.0, 2.0
_SINGLE = 24


def slight(variant: Variant, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether all that is wrong at a rare variant is wrong by little."""
    wrong = [j for j in judgements.values() if j.verdict in WRONG]
    if not variant.rare or not wrong:
        return False
    kinds = [t.kind for t in variant.asked if t.kind]
    narrow = any(DTYPES[kind].digits < _SINGLE for kind in kinds)
    most = _OF_SIXTEEN if narrow else _LITTLE
    return all(j.tensors and all(_little(t.comparison, most) for t in j.tensors) for j in wrong)


def _little(comparison: Comparison, most: float) -> bool:
    return bool(np.all(comparison.shares[~comparison.passed] <= most))
