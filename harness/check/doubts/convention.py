"""What comes of nothing, as of a row that is masked in full: any number is a convention, none is wrong.

A reference says something there by the way; a kernel that was never asked may say something else. NaN where the
reference has a number is what destroys a batch for one sequence without a token; but where every draw rules it out, as
by a first place that is never masked, nobody asks for that either.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import numpy as np

from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.doubts.slight import NOTHING
from opproof.harness.check.questions.variants import Excused, Variant
from opproof.harness.judge.judgement import Judgement


class Convention(StrEnum):
    """What is said of results that are excused."""

    OTHER = "the candidate gives other numbers than the reference there, which may be a convention of its own"
    NONE = "the candidate gives no number there, and the reference does; no draw has it, and none could"
    NOTHING = NOTHING


def of_convention(variant: Variant, judgements: Mapping[Mode, Judgement]) -> Convention | None:
    """What to say of wrong results of a variant whose results are excused; None where they are not.

    Of values, or gradients, where the reference has no number itself nothing is told.
    """
    wrong = [j for j in judgements.values() if j.verdict in (Verdict.WRONG_VALUE, Verdict.WRONG_GRADIENT)]
    if variant.excused is Excused.NOTHING or not wrong:
        return None
    each = ([(t.got, t.expected.values) for t in j.tensors if t.got.dtype.kind == "f"] for j in wrong)
    known = [some for some in each if all(np.isfinite(e).all() for _, e in some)]
    if not known:
        return Convention.NOTHING
    if all(np.isfinite(got).all() for some in known for got, _ in some):
        return Convention.OTHER
    return Convention.NONE if variant.excused is Excused.ALL else None
