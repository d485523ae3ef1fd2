"""What is wrong with gradients before any value is looked at: dtypes, and outputs that do not require grad."""

from __future__ import annotations

from opproof.core.verdicts import Verdict
from opproof.harness.check.sides.exchange import Reply
from opproof.harness.check.sides.facts import Facts
from opproof.harness.judge.judgement import Judgement


def misgiven(asked: Facts, reply: Reply) -> Judgement | None:
    """A gradient has its input's dtype, and what requires grad in the reference does in the candidate."""
    if any(y.differentiable for y in reply.outputs):  # a vjp that was given needs none
        for i, (y, w) in enumerate(zip(reply.outputs, asked.reply.outputs, strict=False)):
            if w.differentiable and not y.differentiable:
                text = f"y{i} does not require grad, which the reference's does: its gradient is lost"
                return Judgement(Verdict.WRONG_GRADIENT, text)
    if reply.written >= 0:
        text = f"the gradient that comes in for y{reply.written} was written over: others may hold the same memory"
        return Judgement(Verdict.INPUT_CHANGED, f"{text}, as that of x in x + f(x)")
    for t, d in zip(asked.request.tensors, reply.gradients, strict=True):
        if d is not None and d.dtype != t.dtype:
            return Judgement(Verdict.WRONG_DTYPE, f"the gradient of {t.name} has dtype {d.dtype}: expected {t.dtype}")
    return None
