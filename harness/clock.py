"""What a budget of seconds has been spent: seconds of processors, however busy the machine is with something else.

By the wall's clock two busy neighbours let a check of 105 variants try 8. What takes no processor at all, as a call
that sleeps or waits for a device, is counted by the wall's clock, at a part of its rate.
"""

from __future__ import annotations

import math
import os
import resource
import time
from dataclasses import dataclass, field
from pathlib import Path

from opproof.backends.host.keeper import descendants

#: So many seconds of the wall's clock count as one where processors have nothing to do.
IDLE = 8.0
#: Processes beside this one, each with all below it, whose work counts.
_COUNTED: set[int] = set()
#: Ticks a second in /proc/PID/stat, and the places of those of a process and of its children that have ended.
_TICKS = os.sysconf("SC_CLK_TCK")
_PLACES = slice(11, 15)


@dataclass
class Clock:
    """Seconds since it was made; `alone`: of this process, which is looked at a thousand times as fast as others."""

    alone: bool = False
    _processor: float = field(init=False)
    _wall: float = field(init=False, default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._processor = self._worked()

    @property
    def spent(self) -> float:
        """Seconds of processors; of several at once, as many as have passed; of none, a part of those."""
        passed = time.monotonic() - self._wall
        return max(passed / IDLE, min(self._worked() - self._processor, passed))

    def _worked(self) -> float:
        return time.process_time() if self.alone else _processor()


@dataclass(frozen=True)
class Allowed:
    """So many seconds from when it was made."""

    seconds: float
    clock: Clock = field(default_factory=Clock)

    @property
    def left(self) -> float:
        """Seconds that are left, below 0 where it is over."""
        return self.seconds - self.clock.spent

    @property
    def over(self) -> bool:
        """Whether none is left."""
        return self.left < 0


def count(process: int) -> None:
    """Count what another process works from its start, and all below it; where there is no /proc nothing of it."""
    _COUNTED.add(process)


def count_no_more(process: int) -> None:
    """Leave out a process that has ended, and that this one has waited for: it counts among its children."""
    _COUNTED.discard(process)


def _processor() -> float:
    """Seconds of processors of this process, of its children that have ended, and of those that are counted."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    others = (_of(one) for process in _COUNTED for one in (process, *descendants(process)))
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(others)


def _of(process: int) -> float:
    """Of one that runs, with its children that have ended; 0 where it cannot be known."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    return sum(map(int, told.rpartition(")")[2].split()[_PLACES])) / _TICKS


#: As long as it takes.
ENDLESS = Allowed(math.inf)
