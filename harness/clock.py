"""What a budget of seconds has been spent: seconds of processors, however busy the machine is with something else.

By the wall's clock two busy neighbours let a check of 105 variants try 8. What takes no processor at all, as a call
that sleeps or waits for a device, is counted by the wall's clock: at its rate, less what waited for a processor, where
the system tells that (/proc/PID/task/*/schedstat), elsewhere at a part of it.
"""

from __future__ import annotations

import math
import os
import resource
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from opproof.backends.worker.sandbox.supervisor import find_descendants

#: So many seconds of the wall's clock count as one where processors have nothing to do, and nobody tells why.
IDLE = 8.0
#: The part of what has passed that no rest is worth a look at.
_LITTLE_SHARE = 0.01
#: Processes beside this one, each with all below it, whose work counts.
_COUNTED: set[int] = set()
#: By process when it was last read how long it has waited, and what was read; that is not read again so soon.
_QUEUED: dict[int | str, tuple[float, float]] = {}
_READ_AGAIN_SECONDS = 0.02
#: Ticks a second in /proc/PID/stat, and the places of those of a process and of its children that have ended.
_TICKS = os.sysconf("SC_CLK_TCK")
_PLACES = slice(11, 15)


@dataclass
class Clock:
    """Seconds since it was made; `alone`: of this process, which is looked at a thousand times as fast as others."""

    alone: bool = False
    _processor: float = field(init=False)
    _queued: float = field(init=False)
    _wall: float = field(init=False)

    def __post_init__(self) -> None:
        self._processor, self._queued = self._worked(), self._waited()
        self._wall = time.monotonic()  # read last here and first below: what comes between is not counted

    @property
    def spent(self) -> float:
        """Seconds of processors; of several at once, as many as have passed; of none, a part of those."""
        passed = time.monotonic() - self._wall
        worked = min(self._worked() - self._processor, passed)
        rested = passed - worked
        if rested <= _LITTLE_SHARE * passed:
            return worked
        if not _tells_queues():
            return max(worked, passed / IDLE)
        return worked + max(rested - max(self._waited() - self._queued, 0.0), 0.0)

    def _worked(self) -> float:
        return time.process_time() if self.alone else _measure_processor()

    def _waited(self) -> float:
        """Seconds for a processor, of all threads of this process, and of others that are counted."""
        return _measure_queued("self") + (0.0 if self.alone else sum(map(_measure_queued, _list_counted())))


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
    _QUEUED.pop(process, None)


def _measure_processor() -> float:
    """Seconds of processors of this process, of its children that have ended, and of those that are counted."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(map(_of, _list_counted()))


def _list_counted() -> list[int]:
    return [one for process in _COUNTED for one in (process, *find_descendants(process))]


def _measure_queued(process: int | str) -> float:
    """Seconds in which threads of a process could have run and did not; 0 where the system does not tell.

    What was read just now is not read again: a check asks thousands of times.
    """
    now, (read, seconds) = time.monotonic(), _QUEUED.get(process, (-math.inf, 0.0))
    if 0 <= now - read < _READ_AGAIN_SECONDS:
        return seconds
    seconds = 0.0
    with suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError, IndexError, ValueError):
                seconds += int((thread / "schedstat").read_bytes().split()[1]) / 1e9
    _QUEUED[process] = now, seconds
    return seconds


@cache
def _tells_queues() -> bool:
    """Whether the system tells how long a thread has waited for a processor."""
    return Path("/proc/self/schedstat").is_file()


def _of(process: int) -> float:
    """Of one that runs, with its children that have ended; 0 where it cannot be known."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    return sum(map(int, told.rpartition(")")[2].split()[_PLACES])) / _TICKS


#: As long as it takes.
ENDLESS = Allowed(math.inf)
