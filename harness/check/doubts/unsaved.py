"""Gradients that prove nothing if outputs are saved in 16 bits, by the bound of a backward that reads none.

A share exp(x - lse) by a logsumexp of 500 that was saved in bf16 is anything from 0 to 7 times what it should be, and
zeros are within the bound; by the bound of who keeps in float32 what lies between they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.torch.evaluate import Question, Truth, truth


def unsaved(
    question: Question, judgements: Mapping[Mode, Judgement], judge: Callable[[Truth], Judgement]
) -> dict[Mode, Judgement]:
    """The judgements; a gradient that was MISTRUSTED passes where `judge` passes it by the narrower bound."""
    found = dict(judgements)
    doubted = Mode.GRADIENT in found and found[Mode.GRADIENT].verdict is Verdict.MISTRUSTED
    if doubted and any(kind in ("f16", "bf16") for kind in question.dtypes):
        again = judge(truth(replace(question, saves=False)))
        if again.verdict is Verdict.PASS:
            found[Mode.GRADIENT] = again
    return found
