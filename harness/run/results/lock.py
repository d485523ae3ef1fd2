"""One run at a time in a folder: a lock that the system takes back from a process that has ended."""

from __future__ import annotations

import os
import platform
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from opproof.core.errors import UsageError

try:
    import fcntl
except ImportError:  # Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment, unused-ignore]

FILE = ".opproof-lock"

#: How long the process that has just locked a folder may take to write who it is, in seconds.
_PATIENCE = 1.0


class Busy(UsageError):
    """Another run has the folder."""


@dataclass(frozen=True)
class Lock:
    """A folder that is this run's alone, until `release`."""

    path: Path
    descriptor: int


def take(folder: Path) -> Lock:
    """Make the folder where there is none, and lock it. Raises Busy, and OSError where it cannot be written to.

    The lock is the open file's, not the name's: what a killed run left behind locks nobody out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        if not _locked(descriptor):
            holder = _holder(descriptor)
            os.close(descriptor)
            raise Busy(
                f"{folder} is in use by another run, {holder}; wait for its end, or give another folder with --out DIR."
            )
        if _is(path, descriptor):  # not removed by a run that ended just now
            break
        os.close(descriptor)
    lock = Lock(path, descriptor)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {platform.node()}".encode())
    except OSError:
        release(lock)
        raise
    return lock


def release(lock: Lock) -> None:
    """Let other runs have the folder, and leave no trace in it."""
    with suppress(OSError):  # the folder is gone, or cannot be written to any more
        if _is(lock.path, lock.descriptor):
            lock.path.unlink()
    os.close(lock.descriptor)


def _locked(descriptor: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is(path: Path, descriptor: int) -> bool:
    """Whether the name still stands for the open file."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _holder(descriptor: int) -> str:
    """Which process has the lock."""
    end = time.monotonic() + _PATIENCE
    while True:
        text = os.pread(descriptor, 300, 0).decode("utf-8", "replace")
        if text or time.monotonic() > end:
            return text or "a process that does not say which it is"
        time.sleep(0.02)
