"""What was right asked again by a program of its own, in which nothing tells of a judge."""

from __future__ import annotations

from collections.abc import Sequence

from opproof.core.verdicts import FAILED
from opproof.harness.check.sides.unwatched import Unwatched
from opproof.harness.check.tensors import CONTIGUOUS
from opproof.harness.check.trial.off import off
from opproof.harness.check.trial.outcome import Right, Tried, with_failure

#: What is said of a candidate that answers otherwise there.
WHERE = "where a program that is not opproof calls it; as it is called here it is right"


def by_script(found: Sequence[Tried], ask: Unwatched) -> list[Tried]:
    """What was tried, with the first that is wrong there: of the given inputs, of the largest and of the last."""
    some = _few([one for t in found if (one := t.right) is not None and _is_usual(one)])
    replies = ask([one.asked.request for one in some]) if some else None
    for one, reply in zip([*some, *some], replies or (), strict=False):  # the second time after many calls
        for mode, judgement in off(one, reply):
            if judgement.verdict in FAILED:
                wrong = with_failure(one, reply, mode, judgement, WHERE)
                return [wrong if t.variant is one.variant else t for t in found]
    return list(found)


def _is_usual(one: Right) -> bool:
    return one.variant.layout == CONTIGUOUS and not one.variant.one and not one.asked.reply.draws


def _few(some: Sequence[Right]) -> list[Right]:
    if not some:
        return []
    largest = max(some, key=lambda one: sum(t.values.size for t in one.asked.request.tensors))
    chosen = {id(one): one for one in (some[0], largest, some[-1])}
    return list(chosen.values())
