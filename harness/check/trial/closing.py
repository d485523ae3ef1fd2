"""What is asked last, once all is right: the same again, in other ways of calling, beside what nobody may touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from opproof.harness.check.questions.variants import GIVEN
from opproof.harness.check.sides.reference import Ask, Native
from opproof.harness.check.sides.unwatched import Unwatched
from opproof.harness.check.trial.again import not_drawn_again
from opproof.harness.check.trial.by_script import by_script
from opproof.harness.check.trial.elsewhere import fenced_sizes, in_settings
from opproof.harness.check.trial.far import far
from opproof.harness.check.trial.inference import without_gradients
from opproof.harness.check.trial.linear import in_parts
from opproof.harness.check.trial.outcome import Right, Tried
from opproof.harness.check.trial.ranks import with_another_axis
from opproof.harness.check.trial.related import in_autocast, related
from opproof.harness.check.trial.repeated import unrepeated
from opproof.harness.check.trial.special import hidden, nonfinite, unread
from opproof.harness.check.trial.tails import by_beginnings, by_version
from opproof.harness.check.trial.written import written_between
from opproof.harness.check.wish import Wish
from opproof.harness.clock import Clock

#: Seconds that each of these may take at most, and the share of what the check took so far.
_SECONDS, _SHARE = 1.0, 0.1
#: What is said where one call alone takes longer.
LEFT = "other ways of calling"
#: Seconds in which what is asked a few times can be begun, however short the check was.
_LEAST = 0.5


def closing(
    found: Sequence[Tried],
    ask: Ask,
    reference: Native,
    wish: Wish,
    clock: Clock,
    *,
    apart: bool,
    alone: Unwatched | None = None,
) -> tuple[list[Tried], tuple[str, ...]]:
    """What was tried, all of it right, with what turns out wrong, and what there was no time for.

    `clock`: of the check. `apart`: the candidate is in a process of its own, which may die.
    """
    seconds = min(_SECONDS, _SHARE * clock.spent)
    few = max(seconds, _LEAST)
    slow = found[0].reply.seconds > few
    first = found[0].right if found[0].variant.name == GIVEN else None
    questions = _questions(ask, reference, wish, seconds, few, slow=slow)
    if first is not None and (wrong := next(filter(None, (asked(first) for asked in questions)), None)):
        return [wrong, *found[1:]], ()
    if slow:
        return list(found), (LEFT,)
    made = fenced_sizes(found, ask, few, apart=apart)
    if alone is not None and all(t.right is not None or t.declined for t in made):
        made = by_script(made, alone)
    return [*made, *(() if first is None else _told(first, ask, reference, few, apart=apart))], ()


#: What is asked of the inputs as given, and comes to a failure or to nothing.
_Question: TypeAlias = Callable[[Right], Tried | None]


def _questions(
    ask: Ask, reference: Native, wish: Wish, seconds: float, few: float, *, slow: bool
) -> Iterator[_Question]:
    """All of them, of a slow kernel the first two; `few`: seconds for what a few calls show."""
    if wish.bits is None:
        yield lambda first: unrepeated(first, ask, seconds, reuses=wish.reuses_outputs)
    yield lambda first: without_gradients(first, ask, seconds, reuses=wish.reuses_outputs)
    if slow:
        return
    if wish.bits is None:
        yield lambda first: by_beginnings(first, ask, reference, few)
    yield lambda first: not_drawn_again(first, ask, reference)
    yield lambda first: in_settings(first, ask, reference, few, shares=wish.reuses_outputs)
    yield lambda first: in_parts(first, ask, few)


def _told(first: Right, ask: Ask, reference: Native, seconds: float, *, apart: bool) -> Iterator[Tried]:
    """What is no failure, and told."""
    yield from nonfinite(first, ask, reference, seconds)
    yield from hidden(first, ask, reference, seconds)
    yield from unread(first, ask, reference)
    yield from by_version(first, ask, reference, seconds)
    yield from with_another_axis(first, ask, reference, seconds)
    yield from in_autocast(first, ask, reference)
    yield from written_between(first, ask, reference)
    if apart:
        yield from far(first, ask, reference, seconds)
        yield from related(first, ask, reference, seconds)
