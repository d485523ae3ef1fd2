"""Cases that a judge is handed at once: small ones together, for handing one over costs as much as judging it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from opproof.harness.run.task import Task

#: Seconds of a judge's work that are handed over at once: its records come that late, and so does an end.
SECONDS = 0.1
#: Cases at once: so many are tried again where their judge dies.
MOST = 64

Case: TypeAlias = tuple[Task, ...]


class Bundles:
    """The cases that no judge has yet, in their order."""

    def __init__(self, cases: Iterable[Case], jobs: int) -> None:
        """For so many judges."""
        self._left, self._jobs = deque(cases), jobs
        self._each = SECONDS  # that a case took of late

    def __len__(self) -> int:
        """How many cases are left."""
        return len(self._left)

    def take(self) -> tuple[Case, ...]:
        """The next ones: no more than take SECONDS, and fewer near the end, which all judges are to reach together."""
        share = len(self._left) // (4 * self._jobs)
        count = max(1, min(int(SECONDS / self._each), MOST, share))
        return tuple(self._left.popleft() for _ in range(min(count, len(self._left))))

    def judged(self, given: Sequence[Case], done: int, seconds: float) -> None:
        """The first `done` of a bundle took so long; the others, which were not begun, are the next."""
        self._left.extendleft(reversed(given[done:]))
        self._each = max((self._each + seconds / max(done, 1)) / 2, 1e-6)
