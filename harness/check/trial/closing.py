"""What is asked last, once all is right: the same again, in other ways of calling, beside what nobody may touch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import chain

from opproof.harness.check.questions.variants import GIVEN
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.trial.elsewhere import fenced_sizes, in_settings
from opproof.harness.check.trial.inference import without_gradients
from opproof.harness.check.trial.linear import in_parts
from opproof.harness.check.trial.outcome import Tried
from opproof.harness.check.trial.ranks import with_another_axis
from opproof.harness.check.trial.repeated import unrepeated
from opproof.harness.check.trial.special import nonfinite, unread
from opproof.harness.check.trial.tails import by_beginnings, by_version
from opproof.harness.check.wish import Wish

#: Seconds that each of these may take at most, and the share of what the check took so far.
_SECONDS, _SHARE = 1.0, 0.1
#: What is said where one call alone takes longer.
LEFT = "other ways of calling"
#: Seconds in which what is asked a few times can be begun, however short the check was.
_LEAST = 0.5


def closing(
    found: Sequence[Tried], ask: Ask, reference: Native, wish: Wish, began: float, *, apart: bool
) -> tuple[list[Tried], tuple[str, ...]]:
    """What was tried, all of it right, with what turns out wrong, and what there was no time for.

    `began`: of time.monotonic(). `apart`: the candidate is in a process of its own, which may die.
    """
    seconds = min(_SECONDS, _SHARE * (time.monotonic() - began))
    few = max(seconds, _LEAST)
    slow = found[0].reply.seconds > few
    questions: tuple[Callable[[Tried], Tried], ...] = (
        lambda first: unrepeated(first, ask, seconds) if wish.bits is None else first,
        lambda first: without_gradients(first, ask, seconds, reuses=wish.reuses_outputs),
    )
    if not slow:
        questions += (
            lambda first: by_beginnings(first, ask, reference, few) if wish.bits is None else first,
            lambda first: in_settings(first, ask, reference, few, shares=wish.reuses_outputs),
            lambda first: in_parts(first, ask, few),
        )
    first, *rest = found
    given = first.variant.name == GIVEN
    for question in questions if given else ():
        asked = question(first)
        if asked is not first:
            return [asked, *rest], ()
    if slow:
        return list(found), (LEFT,)
    made = fenced_sizes(found, ask, few, apart=apart)
    told = chain(
        nonfinite(first, ask, reference, few),
        unread(first, ask, reference),
        by_version(first, ask, reference, few),
        with_another_axis(first, ask, reference, few),
    )
    return [*made, *(told if given else ())], ()
