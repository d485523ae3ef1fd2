"""The given inputs asked again and again, once all is right: a race that shows in one call of fifty."""

from __future__ import annotations

import time

from opproof.harness.check.sides.alike import alike
from opproof.harness.check.sides.reference import Ask
from opproof.harness.check.trial.outcome import Right, Tried, with_failure
from opproof.harness.judge.judgement import Judgement
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import Verdict

#: Calls at most.
CALLS = 200


def unrepeated(first: Right, ask: Ask, seconds: float) -> Tried | None:
    """NOT_REPEATABLE where a later call gave other bits than the one that was judged."""
    end = time.monotonic() + seconds
    for i in range(CALLS):
        reply = ask(first.asked.request)
        for mode, same in (
            (Mode.FORWARD, alike(reply.outputs, first.reply.outputs)),
            (Mode.GRADIENT, alike(reply.gradients, first.reply.gradients)),
        ):
            if not same or reply.error:
                text = reply.error or f"one call in {i + 1} gave other {_NOUNS[mode]}"
                verdict = reply.cause if reply.error else Verdict.NOT_REPEATABLE
                return with_failure(first, reply, mode, Judgement(verdict, text))
        if time.monotonic() > end:
            break
    return None


_NOUNS = {Mode.FORWARD: "outputs", Mode.GRADIENT: "gradients"}
