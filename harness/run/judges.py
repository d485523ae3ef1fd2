"""What runs in a judge's process: tasks, case by case. It never loads a backend, and dies with its run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from opproof.backends.worker.sandbox import supervisor
from opproof.core.system import keep_what_is_freed, uncollected
from opproof.harness.run.cache import place
from opproof.harness.run.cluster import keys
from opproof.harness.run.desk.desk import Desk
from opproof.harness.run.hosts.process import HostProcess
from opproof.harness.run.limits import Limits
from opproof.harness.run.reach import adopt, end, withdraw
from opproof.harness.run.task import Task
from opproof.reports import Result

#: The one of this process.
_DESK: list[Desk] = []

#: Seconds that one case may take a judge, all its calls and looks included.
_LONGEST = 1200.0


class TooLong(Exception):
    """A judge has been at one case for too long: a reference that does not end, for instance."""


def start(limits: Limits, cache: place.Place | None = None) -> None:
    """Initialise a judge's process."""
    place.withdraw()
    keys.withdraw()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides what an interruption means
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _too_long)
    warnings.simplefilter("ignore")  # NaN, infinity and empty means are answers here, not accidents
    withdraw()
    adopt()
    keep_what_is_freed()
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    with uncollected(kept=True):
        _DESK[:] = [Desk(limits, cache)]


def describe(spec: str) -> dict[str, str]:
    """See Desk."""
    return _DESK[0].describe(spec)


@dataclass(frozen=True)
class Judged:
    """The records of each of the first of some cases, and how many seconds they took."""

    records: Sequence[Sequence[Result]]
    seconds: float


def results(cases: Sequence[Sequence[Task]], seconds: float = 0.0) -> Judged:
    """See Desk. After so many seconds no further case is begun."""
    begun, records = time.monotonic(), []
    try:
        for case in cases:
            records.append(_results(case))
            spent = time.monotonic() - begun
            if spent >= seconds:
                break
    finally:
        _end_orphans()
    _DESK[0].keep()
    return Judged(records, spent)


def _results(tasks: Sequence[Task]) -> list[Result]:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _LONGEST)
    try:
        return _DESK[0].results(tasks)
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(*_: object) -> None:
    raise TooLong(f"the judge was at it for {_LONGEST:g} s")


def _end_orphans() -> None:
    """End what is left of a host whose keeper was killed: it has come to this process, whose children are keepers."""
    for orphan in set(supervisor.children(os.getpid())) - HostProcess.keepers:
        end(orphan)


def _end_with_the_run() -> None:
    """When the run is gone, killed for instance, nobody reads the records; the hosts' keepers see this process end."""
    run = multiprocessing.parent_process()
    if run is not None:
        run.join()
        os._exit(1)
