"""A precision that was not declared: a 16-bit candidate that passes if what lies between its steps is rounded too.

Kernels that keep shares, normed rows or a saved gradient in 16 bits are many; who meets one is told what to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from opproof.core.verdicts import SYSTEMATIC, WRONG, Mode, Verdict
from opproof.harness.diagnose.precision import of_its_size
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.torch.alternatives import widened
from opproof.harness.reference.torch.evaluate import Question, Truth, truth
from opproof.reports import Result


def undeclared(
    question: Question, judgements: Mapping[Mode, Judgement], judged: Callable[[Truth], Mapping[Mode, Judgement]]
) -> dict[Mode, str]:
    """What to say of those that are wrong where the declaration `storage` makes all of them right; else nothing.

    Not where every element is within its bound and the whole is wrong: a factor or truncation would be declared away.
    """
    narrow = [k for k in question.results if k in ("f16", "bf16")]
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG]
    if question.compute is not None or not narrow or not wrong or any(_together(judgements[m]) for m in wrong):
        return {}
    asked = replace(question, compute="storage")
    found = judged(widened(asked, truth(asked)))
    if not all(found[m].verdict in (Verdict.PASS, Verdict.MISTRUSTED) and of_its_size(found[m]) for m in wrong):
        return {}
    said = (
        f"it is within what rounding between its steps to {narrow[0]} makes: "
        'declare that with compute="storage" (--compute storage), or keep float32 there'
    )
    if any(found[m].verdict is Verdict.MISTRUSTED for m in wrong):
        said += "; little is proved by so wide a bound, and more by dtype f32"
    return dict.fromkeys(wrong, said)


def by_rule(results: Iterable[Result], judgements: Iterable[Judgement]) -> bool:
    """Whether a rule is named by which the candidate is wrong, a factor say: then rounding explains no variant."""
    of_the_whole = (j.figures for j in judgements if j.verdict in WRONG and _together(j))
    return any(r.patterns and r.patterns[0] in SYSTEMATIC for r in results) or any(
        f.factor is not None or f.slope for f in of_the_whole
    )


def _together(judgement: Judgement) -> bool:
    return bool(judgement.tensors) and all(bool(t.comparison.passed.all()) for t in judgement.tensors)
