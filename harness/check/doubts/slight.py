"""Values and sizes that inputs seldom have, at which an answer is off by little more than its bound: nothing is told.

They are tried for floors, zeros and tiles, which show by far. How errors grow with the length of a chain, as of an
online softmax that rescales at each step, or where a floor and a square nearly cancel, is another question. Not in
16 bits: what lies between the steps has digits to spare there.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import WRONG, Mode
from opproof.harness.check.questions.fills import SATURATING
from opproof.harness.check.questions.variants import Variant
from opproof.harness.judge.bound import Comparison
from opproof.harness.judge.judgement import Judged, Judgement

#: What is said of a rare variant at which nothing is told.
NOTHING = "it tells nothing of the candidate"
#: So many bounds are little, of dtypes with so many digits and more.
_LITTLE, SINGLE = 8.0, 24
#: And so many in so few of the elements: where thousands nearly cancel in the reference's order of sums, some do so by
#: chance far better than in another's (99 of 100 are within half their bounds then).
_FEW, _IN_FEW = 2.0**-8, 32.0
#: Roundings of the largest input that a result may be off by where inputs are large.
_ROUNDINGS = 8.0


def slight(variant: Variant, judgements: Mapping[Mode, Judgement]) -> bool:
    """Whether all that is wrong at a rare variant, or where inputs are large, is wrong by little."""
    wrong = [j for j in judgements.values() if j.verdict in WRONG]
    narrow = any(DTYPES[t.kind].digits < SINGLE for t in variant.asked if t.kind)
    if not wrong or narrow:
        return False
    most = _of_an_input(variant)
    return all(
        j.tensors and all((variant.rare and _little(t.comparison)) or _within(t, most) for t in j.tensors)
        for j in wrong
    )


def _of_an_input(variant: Variant) -> float:
    """How much of itself a result may be off where inputs are large, as a thousand times what is given: 0 elsewhere.

    A few roundings of the largest input, as an exponential multiplies them: another formula rounds what the
    reference's takes off before, as Sinkhorn's iteration by two vectors does, and is right for inputs next to these.
    """
    if not variant.fill.endswith(SATURATING):
        return 0.0
    some = [(DTYPES[t.kind].u, np.abs(t.values)) for t in variant.asked if t.kind and t.values.size]
    return _ROUNDINGS * max((u * float(sizes.max()) for u, sizes in some), default=0.0)


def _within(judged: Judged, most: float) -> bool:
    wrong, expected = ~judged.comparison.passed, judged.expected.values
    with np.errstate(all="ignore"):
        off = np.abs(judged.got - expected)
    return most > 0 and bool(np.all(off[wrong] <= most * np.abs(expected[wrong])))


def _little(comparison: Comparison) -> bool:
    wrong = ~comparison.passed
    most = _IN_FEW if np.count_nonzero(wrong) <= _FEW * wrong.size else _LITTLE
    return bool(np.all(comparison.shares[wrong] <= most))
