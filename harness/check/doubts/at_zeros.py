"""Wrong gradients looked at again where inputs were made 0: a formula may have kinks there that cancel.

max(x, 0) + log1p(exp(-|x|)) is smooth, and PyTorch's autograd gives 1 for its derivative at 0, not 1/2: of each kink it
takes one side. Nobody finds fault with such a kernel; one whose values are wrong at 0, or whose gradient is no number
there or larger than any other, is wrong; and so is one with a formula for its backward that is not the reference's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.doubts.excused import compared_by, judged_again
from opproof.harness.check.questions.fills import ZEROED
from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.exchange import Reply
from opproof.harness.check.tensors import Tensor
from opproof.harness.judge.judgement import Judged, Judgement

#: A gradient there is so many times the largest that is expected anywhere at most: of two kinks both may be taken. And
#: so many times the largest cotangent where all that is expected is 0, as of relu before which all is 0.
_MOST, _MOST_OF_NONE = 4.0, 2.0**10


def at_zeros(
    variant: Variant,
    tensors: Sequence[Tensor],
    cotangents: Sequence[Array | None],
    judgements: Mapping[Mode, Judgement],
    reply: Reply,
) -> dict[Mode, Judgement]:
    """The judgements; a gradient that is wrong where its own input is 0 alone passes, of variants with zeros.

    Not where the `reply` is of a candidate with a backward of its own, which has no kinks by the way.
    """
    wrong = judgements.get(Mode.GRADIENT)
    if variant.fill != ZEROED or reply.own_backward or wrong is None or wrong.verdict is not Verdict.WRONG_GRADIENT:
        return dict(judgements)
    values, given = {t.name: t for t in tensors}, max(_largest(g) for g in cotangents if g is not None)
    again = [_again(j, values[j.name], given) for j in wrong.tensors]
    judged = judged_again(wrong, again)
    if judged.verdict is Verdict.PASS:
        judged = replace(judged, message="wrong only where the input is 0: within what a formula with kinks may give")
    return {**judgements, Mode.GRADIENT: judged}


def _again(judged: Judged, given: Tensor, cotangent: float) -> Judged:
    if judged.comparison.right or given.values.shape != judged.got.shape:
        return judged
    most = _MOST * _largest(judged.expected.values) or _MOST_OF_NONE * cotangent
    with np.errstate(all="ignore"):
        small = np.abs(judged.got) <= most
    mask = ~judged.comparison.passed & (given.values == 0) & small
    return compared_by(judged, judged.comparison.excusing(mask), given.kind)


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
