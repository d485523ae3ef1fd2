"""Values and sizes that inputs seldom have, at which an answer is off by little more than its bound: nothing is told.

They are tried for floors, zeros and tiles, which show by far. How errors grow with the length of a chain, as of an
online softmax that rescales at each step, or where a floor and a square nearly cancel, is another question. Not in
16 bits: what lies between the steps has digits to spare there.
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

#: What is said of a rare variant at which nothing is told.
NOTHING = "it tells nothing of the candidate"
#: So many bounds are little, of dtypes with so many digits and more.
_LITTLE, SINGLE = 8.0, 24
#: And so many in so few of the elements: where thousands nearly cancel in the reference's order of sums, some do so by
#: chance far better than in another's (99 of 100 are within half their bounds then).
_FEW, _IN_FEW = 2.0**-8, 32.0


def slight(variant: Variant, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether all that is wrong at a rare variant is wrong by little."""
    wrong = [j for j in judgements.values() if j.verdict in WRONG]
    narrow = any(DTYPES[t.kind].digits < SINGLE for t in variant.asked if t.kind)
    if not variant.rare or not wrong or narrow:
        return False
    return all(j.tensors and all(_little(t.comparison) for t in j.tensors) for j in wrong)


def _little(comparison: Comparison) -> bool:
    wrong = ~comparison.passed
    most = _IN_FEW if np.count_nonzero(wrong) <= _FEW * wrong.size else _LITTLE
    return bool(np.all(comparison.shares[wrong] <= most))
