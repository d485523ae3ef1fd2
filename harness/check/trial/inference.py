"""The given inputs as inference has them, with no gradient asked for: a kernel may take another path there."""

from __future__ import annotations

from dataclasses import replace

from opproof.core.verdicts import FAILED, Mode
from opproof.harness.check.sides.reference import Ask
from opproof.harness.check.trial.faults import overwritten
from opproof.harness.check.trial.off import off
from opproof.harness.check.trial.outcome import Right, Tried, with_failure
from opproof.harness.clock import Allowed
from opproof.harness.judge.judgement import Judgement

#: Which calls are of the variant's other data: of any two that are so far apart as outputs are held some differ.
_OTHER = "1001011001101001"
#: Calls that are made, however slow.
_LEAST = 2


def without_gradients(first: Right, ask: Ask, seconds: float, *, reuses: bool) -> Tried | None:
    """What fails without gradients, after its other data and after itself, is said of its forward.

    So many calls that a ring of buffers comes round, if `seconds` suffice. `reuses`: that it may is declared.
    """
    if not first.asked.request.cotangents:
        return None
    asked = first.asked.request.plain
    other = replace(asked, tensors=first.variant.other)
    allowed = Allowed(seconds)
    for i, is_other in enumerate(c == "1" for c in _OTHER):
        if i >= _LEAST and allowed.over:
            break
        reply = ask(other if is_other else asked)
        judgement: Judgement | None = None
        if reply.error:
            judgement = Judgement(reply.cause, reply.error)
        elif reply.overwritten >= 0 and not reuses:
            judgement = overwritten(reply.overwritten, first.asked)
        elif not is_other:
            judgement = next((j for _, j in off(first, reply)), None)
        if judgement is not None and judgement.verdict in FAILED:
            return with_failure(first, reply, Mode.FORWARD, judgement, "where no gradient is asked for (torch.no_grad)")
    return None
