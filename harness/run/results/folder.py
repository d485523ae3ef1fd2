"""Where a run may write: a folder that is free, or holds what a run of the same call left, locked for one run."""

from __future__ import annotations

import fcntl
import itertools
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from opproof.core.errors import UsageError
from opproof.reports import Header, ResultsError, read_header
from opproof.reports._results import FILE
from opproof.reports.remarks import FILE as REMARKS

#: What every run leaves behind, beside results.jsonl.
REPORTS = ("report.html", "report.md", REMARKS)

#: Options that make it another call. Jobs, timeout, memory and the ledger may differ: the question is the same.
_QUESTION = ("backends", "selection", "convention", "grad_oracle", "strict_subnormals", "signed_zeros", "in_process")


@contextmanager
def with_locked_folder(out: Path, header: Header, *, resume: bool = False) -> Iterator[Path]:
    """The folder that the run of `header` writes to, its alone until the end: `out`, or `out`-2, `out`-3, ...

    On `resume` it is `out`, whatever it holds. Raises UsageError where it is in use, or cannot be written to.
    """
    try:
        lock = take(out) if resume else _lock_first(out, header)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"cannot write to {out}: {reason}; give another folder with --out DIR.") from None
    try:
        yield lock.path.parent
    finally:
        release(lock)


def _lock_first(out: Path, header: Header) -> Lock:
    """The first of `out`, `out`-2, ... that holds nothing which the run may not replace; says so where it is not `out`.

    Raises FolderLocked where `out` is another run's, UsageError where no other name can be made, OSError.
    """
    kept = ""  # what `out` holds
    for number in itertools.count(1):
        folder = out.with_name(f"{out.name}-{number}") if kept else out
        try:
            lock = take(folder)
        except (FolderLocked, FileExistsError):
            if not kept:
                raise
            continue
        with ExitStack() as stack:
            stack.callback(release, lock)
            if not (content := describe_foreign(folder, header)):
                stack.pop_all()
                break
        if out.name in ("", ".."):
            raise UsageError(f"{out} holds {content}, which is kept; give another folder with --out DIR.")
        kept = kept or content
    if kept:
        sys.stderr.write(f"opproof: {out} holds {kept}, which is kept; this run goes to {folder}.\n")
    return lock


def describe_foreign(folder: Path, header: Header) -> str:
    """What the folder holds that a run of `header` may not replace, in words; empty where there is nothing."""
    path = folder / FILE
    if not os.path.lexists(path):
        left = [name for name in REPORTS if os.path.lexists(folder / name)]
        return f"a {left[0]} without its {FILE}" if left else ""
    if path.is_symlink() or not path.is_file():
        return f"something else by the name of {FILE}"
    try:
        before = read_header(path)
    except ResultsError:
        return f"a {FILE} that this opproof did not write"
    return "" if _identity_of(before) == _identity_of(header) else "the run of another call"


def _identity_of(header: Header) -> dict[str, Any]:
    options = {name: header.options.get(name) for name in _QUESTION}
    asked: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(options))  # tuples as they come back: lists
    return asked


LOCK_FILE = ".opproof-lock"

#: How long the process that has just locked a folder may take to write who it is, in seconds.
_PATIENCE = 1.0


class FolderLocked(UsageError):
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
    path = folder / LOCK_FILE
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read_holder(descriptor)
            os.close(descriptor)
            raise FolderLocked(
                f"{folder} is in use by another run, {holder}; wait for its end, or give another folder with --out DIR."
            ) from None
        except OSError:  # a file system without locks
            break
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


def _is(path: Path, descriptor: int) -> bool:
    """Whether the name still stands for the open file."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read_holder(descriptor: int) -> str:
    end = time.monotonic() + _PATIENCE
    while True:
        text = os.pread(descriptor, 300, 0).decode("utf-8", "replace")
        if text or time.monotonic() > end:
            return text or "a process that does not say which it is"
        time.sleep(0.02)
