"""Out of a backend's reach: memory that no other process may read or write; and nothing of it stays out of ours.

A process that is not "dumpable" can be neither traced nor opened under /proc by its user's other processes, which is
what the kernel asks before it shows them /proc/PID/mem, or lets them call ptrace or process_vm_writev. A process that
adopts is the new parent of all below it whose own has died. Both are Linux's; elsewhere nothing is done.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from opproof.backends.worker.sandbox import supervisor

# <sys/prctl.h>
_GET_DUMPABLE, _SET_DUMPABLE, _SET_CHILD_SUBREAPER = 3, 4, 36


def withdraw() -> None:
    """Put this process out of reach, and all that it forks."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def adopt() -> None:
    """Become the parent of orphans among this process's descendants."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end(process: int) -> None:
    """Kill a process with all its descendants; wait for it where it is a child."""
    for one in (process, *supervisor.descendants(process)):
        with suppress(OSError):
            os.kill(one, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(process, 0)


@contextmanager
def withdrawn() -> Iterator[None]:
    """Out of reach for a while: the records that a run holds are nobody else's to change."""
    if sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None)
    before = libc.prctl(_GET_DUMPABLE, 0, 0, 0, 0)
    withdraw()
    try:
        yield
    finally:
        libc.prctl(_SET_DUMPABLE, before, 0, 0, 0)
