"""Out of a backend's reach: memory that no other process of this user may read or write, on Linux.

A process that is not "dumpable" can be neither traced nor opened under /proc by its user's other processes, which is
what the kernel asks before it shows them /proc/PID/mem, or lets them call ptrace or process_vm_writev.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# <sys/prctl.h>
_GET_DUMPABLE, _SET_DUMPABLE = 3, 4


def withdraw() -> None:
    """Put this process out of reach, and all that it forks."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


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
