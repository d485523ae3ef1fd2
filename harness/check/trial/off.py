"""A second answer to what was answered rightly: wrong only where it is off from the truth and from the first answer.

The first may be right for another reason than its bound, as at a kink, where the second has to be as the first is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.check.sides.alike import alike
from opproof.harness.check.sides.exchange import Answered, Reply
from opproof.harness.check.trial.judge import judge_gradients, judge_outputs
from opproof.harness.check.trial.outcome import Right
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.expected import Expected
from opproof.harness.reference.torch.evaluate import Truth


def off(one: Right, reply: Reply) -> Iterator[tuple[Mode, Judgement]]:
    """What is wrong with the outputs of a reply, and with its gradients if it has any."""
    if _is_settled(one, Mode.FORWARD) and not alike(reply.outputs, one.reply.outputs):
        shapes = [[(y.values.shape, y.dtype) for y in some] for some in (reply.outputs, one.reply.outputs)]
        if shapes[0] != shapes[1]:
            yield Mode.FORWARD, Judgement(Verdict.WRONG_SHAPE, "an output has another shape or dtype")
            return
        judgement = judge_outputs(one.asked, one.truth, reply)
        if judgement.verdict in FAILED and judge_outputs(one.asked, own(one), reply).verdict in FAILED:
            yield Mode.FORWARD, judgement
    if _is_settled(one, Mode.GRADIENT) and reply.gradients and not alike(reply.gradients, one.reply.gradients):
        judgement = judge_gradients(one.asked, one.truth, reply)
        if judgement.verdict in FAILED and judge_gradients(one.asked, own(one), reply).verdict in FAILED:
            yield Mode.GRADIENT, judgement


def _is_settled(one: Right, mode: Mode) -> bool:
    """Whether it was found right in a mode: where nothing could be said of it, nothing can of another answer."""
    return mode in one.judgements and one.judgements[mode].verdict in (Verdict.PASS, Verdict.MISTRUSTED)


def own(one: Right) -> Truth:
    """The truth of a variant that was judged, with the first answer in the place of what is expected."""
    outputs = tuple(_with(e, y) for e, y in zip(one.truth.outputs, one.reply.outputs, strict=True))
    gradients = (
        None if e is None else _with(e, d)
        for e, d in zip(one.truth.gradients, one.reply.gradients or one.truth.gradients, strict=True)
    )
    return replace(one.truth, outputs=outputs, gradients=tuple(gradients))


def _with(expected: Expected, answer: Answered | Expected | None) -> Expected:
    return expected if answer is None else replace(expected, values=answer.values)
