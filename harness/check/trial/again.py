"""Two calls without a new seed: who draws the same random numbers in both, as a mask that is kept, does not draw."""

from __future__ import annotations

from dataclasses import replace

from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.sides.alike import alike
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.sides.settings import Setting
from opproof.harness.check.trial.outcome import Right, Tried, with_failure
from opproof.harness.judge.judgement import Judgement

#: Of fewer numbers two draws may be alike by chance.
_LEAST = 32
_TEXT = "the second of two calls draws the random numbers of the first, where the reference draws others"


def not_drawn_again(first: Right, ask: Ask, reference: Native) -> Tried | None:
    """WRONG_VALUE where a second call answers as the first, and the reference's second does not."""
    request = first.asked.request.plain
    if not first.asked.reply.draws or sum(y.values.size for y in first.asked.outputs) < _LEAST:
        return None
    again = replace(request, setting=Setting.AGAIN)
    own = [reference.native(r).outputs for r in (request, again)]
    if alike(*own):
        return None
    once, reply = ask(request), ask(again)
    if once.error or reply.error or not alike(once.outputs, reply.outputs):
        return None
    return with_failure(first, reply, Mode.FORWARD, Judgement(Verdict.WRONG_VALUE, _TEXT))
