"""A precision that was not declared: a 16-bit candidate that passes if what lies between its steps is rounded too.

Kernels that keep shares, normed rows or a saved gradient in 16 bits are many; who meets one is told what to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from opproof.harness.diagnose.undeclared import of_its_size
from opproof.harness.judge.judgement import Judgement
from opproof.harness.truth.torch.evaluate import Question, Truth, truth
from opproof.harness.truth.torch.ways import widened
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import WRONG, Verdict


def undeclared(
    question: Question, judgements: Mapping[Mode, Judgement], judged: Callable[[Truth], Mapping[Mode, Judgement]]
) -> dict[Mode, Judgement]:
    """The judgements; those that are wrong say so where the declaration `storage` makes all of them right.

    Not where every element is within its bound and the whole is wrong: a factor or truncation would be declared away.
    """
    narrow = [k for k in question.results if k in ("f16", "bf16")]
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG]
    if question.compute is not None or not narrow or not wrong or any(_together(judgements[m]) for m in wrong):
        return dict(judgements)
    asked = replace(question, compute="storage")
    found = judged(widened(asked, truth(asked)))
    if not all(found[m].verdict in (Verdict.PASS, Verdict.MISTRUSTED) and of_its_size(found[m]) for m in wrong):
        return dict(judgements)
    said = (
        f"it is within what rounding between its steps to {narrow[0]} makes: "
        'declare that with compute="storage" (--compute storage), or keep float32 there'
    )
    if any(found[m].verdict is Verdict.MISTRUSTED for m in wrong):
        said += "; little is proved by so wide a bound, and more by dtype f32"
    told = {m: replace(j, message=f"{j.message}; {said}" if j.message else said) for m, j in judgements.items()}
    return {m: told[m] if m in wrong else j for m, j in judgements.items()}


def _together(judgement: Judgement) -> bool:
    return bool(judgement.tensors) and all(bool(t.comparison.passed.all()) for t in judgement.tensors)
