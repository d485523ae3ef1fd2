"""After which earlier case an answer is wrong that is right in a new process: what was kept from there spoils it.

The tasks that the host had are called again in fresh hosts, the last ones, and more of them each time, until the task
is wrong after them; of these the latest from which on it still is, by halves, and whether that one suffices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opproof.harness.run.desk.suspects import Suspect, stretches
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
    for start, innocent in stretches(len(history)):
        if wrong(history[start:]):
            return _narrowed(history, start, innocent, wrong)
    return None


def _narrowed(history: Sequence[Suspect], start: int, innocent: int, wrong: Wrong) -> Before:
    """From `start` on it is wrong; from `innocent` on it is not."""
    while innocent - start > 1:
        middle = (start + innocent) // 2
        start, innocent = (middle, innocent) if wrong(history[middle:]) else (start, middle)
    some = history[start:]
    return Before(tuple(s.task for s in (some[:1] if len(some) > 1 and wrong(some[:1]) else some)))
