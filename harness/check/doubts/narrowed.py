"""Where a reference rounds to 16 bits on its way by a cast of its own, a candidate may round there as well.

Eager code casts the shares of a softmax to bfloat16 for the product with the values, and a weight that it unpacks.
Who keeps float32 is judged by the sharper bound first: it passes by that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.trial.judge import fails
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.torch.alternatives import widened
from opproof.harness.reference.torch.dtype_leaks import Casts
from opproof.harness.reference.torch.evaluate import Question, Truth, truth


def narrowed(
    question: Question,
    casts: Casts,
    judgements: Mapping[Mode, Judgement],
    judged: Callable[[Truth], dict[Mode, Judgement]],
) -> tuple[Question, Truth, dict[Mode, Judgement]] | None:
    """What to ask, what is true and what to say with the noise of `casts`, where all is right by that."""
    if not casts or question.casts or question.compute is not None or not fails(judgements):
        return None
    asked = replace(question, casts=casts)
    wider = widened(asked, truth(asked))
    found = judged(wider)
    return (asked, wider, found) if all(j.verdict is Verdict.PASS for j in found.values()) else None
