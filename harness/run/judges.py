"""What runs in a judge's process: tasks of one case at a time. It never loads a backend, and dies with its run."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Sequence

from opproof.harness.run.desk import Desk
from opproof.harness.run.limits import Limits
from opproof.harness.run.reach import withdraw
from opproof.harness.run.task import Task
from opproof.reports import Result

#: The one of this process.
_DESK: list[Desk] = []

_PR_SET_CHILD_SUBREAPER = 36
#: Seconds that one case may take a judge, all its calls and looks included.
_LONGEST = 1200.0


class TooLong(Exception):
    """A judge has been at one case for too long: a reference that does not end, for instance."""


def start(limits: Limits) -> None:
    """Initialise a judge's process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides what an interruption means
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _too_long)
    warnings.simplefilter("ignore")  # NaN, infinity and empty means are answers here, not accidents
    withdraw()
    _adopt()
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    _DESK[:] = [Desk(limits)]


def describe(spec: str) -> dict[str, str]:
    """See Desk."""
    return _DESK[0].describe(spec)


def results(tasks: Sequence[Task]) -> list[Result]:
    """See Desk."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _LONGEST)
    try:
        return _DESK[0].results(tasks)
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(*_: object) -> None:
    raise TooLong(f"the judge was at it for {_LONGEST:g} s")


def _adopt() -> None:
    """Orphans of a host whose keeper was killed come to this process, which ends them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_with_the_run() -> None:
    """When the run is gone, killed for instance, nobody reads the records; the hosts' keepers see this process end."""
    run = multiprocessing.parent_process()
    if run is not None:
        run.join()
        os._exit(1)
