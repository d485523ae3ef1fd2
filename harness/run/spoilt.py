"""After which earlier case an answer is wrong that is right in a new process: what was kept from there spoils it.

The tasks that the host had are called again in fresh hosts, the last ones, and more of them each time, until the task
is wrong after them; of these the latest from which on it still is, by halves, and whether that one suffices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opproof.harness.run.suspects import MOST, Suspect
from opproof.harness.run.task import Task

#: Whether a task is wrong in a fresh host after calls of these, in their order.
Wrong = Callable[[Sequence[Suspect]], bool]


@dataclass(frozen=True)
class Before:
    """The tasks after which it is wrong: one where that suffices."""

    tasks: tuple[Task, ...]

    @property
    def said(self) -> str:
        """The same in words."""
        first = self.tasks[0].case
        if len(self.tasks) == 1:
            return f"wrong in a fresh process after {first}"
        return f"wrong in a fresh process after {len(self.tasks)} calls, of which {first} is the first"


def before(history: Sequence[Suspect], wrong: Wrong) -> Before | None:
    """What of `history` makes it wrong again; None where nothing does."""
    innocent, count = len(history), 1
    while innocent > 0 and len(history) - innocent < MOST:
        start = max(0, len(history) - count)
        if wrong(history[start:]):
            break
        innocent, count = start, 4 * count
    else:
        return None
    while innocent - start > 1:
        middle = (start + innocent) // 2
        start, innocent = (middle, innocent) if wrong(history[middle:]) else (start, middle)
    alone = history[start : start + 1]
    return Before(tuple(s.task for s in (alone if wrong(alone) else history[start:])))
