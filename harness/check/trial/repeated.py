"""The given inputs asked again and again, once all is right: a race in one call of fifty, a ring of buffers."""

from __future__ import annotations

from dataclasses import replace

from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.sides.alike import alike
from opproof.harness.check.sides.reference import Ask
from opproof.harness.check.trial.faults import overwritten
from opproof.harness.check.trial.outcome import Right, Tried, with_failure
from opproof.harness.clock import Allowed
from opproof.harness.judge.judgement import Judgement

#: Calls at most: more than results are held for.
CALLS = 600


def unrepeated(first: Right, ask: Ask, seconds: float, *, reuses: bool) -> Tried | None:
    """NOT_REPEATABLE where a later call gave other bits than the one that was judged; its other data come between.

    Of two calls, however far apart, some have other data: a ring of buffers shows. `reuses`: that it may is declared.
    """
    asked, allowed = first.asked.request, Allowed(seconds)
    other = replace(asked, tensors=first.variant.other)
    for i in range(CALLS):
        is_other = i.bit_count() % 2 == 1
        reply = ask(other if is_other else asked)
        if reply.overwritten >= 0 and not reuses:
            return with_failure(first, reply, Mode.FORWARD, overwritten(reply.overwritten, first.asked))
        for mode, same in (
            (Mode.FORWARD, is_other or alike(reply.outputs, first.reply.outputs)),
            (Mode.GRADIENT, is_other or alike(reply.gradients, first.reply.gradients)),
        ):
            if not same or reply.error:
                text = reply.error or f"one call in {i + 1} gave other {_NOUNS[mode]}"
                verdict = reply.cause if reply.error else Verdict.NOT_REPEATABLE
                return with_failure(first, reply, mode, Judgement(verdict, text))
        if allowed.over:
            break
    return None


_NOUNS = {Mode.FORWARD: "outputs", Mode.GRADIENT: "gradients"}
