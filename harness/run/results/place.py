"""Where a run may write: a folder that is free, or holds what a run of the same call left; never over anything else."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from opproof.core.errors import UsageError
from opproof.harness.run.results.lock import Busy, Lock, release, take
from opproof.reports import Header, ResultsError, read_header
from opproof.reports._results import FILE
from opproof.reports.remarks import FILE as REMARKS

#: What every run leaves behind, beside results.jsonl.
REPORTS = ("report.html", "report.md", REMARKS)

#: Options that make it another call. Jobs, timeout, memory and the ledger may differ: the question is the same.
_QUESTION = ("backends", "selection", "convention", "grad_oracle", "strict_subnormals", "in_process")


@contextmanager
def claimed(out: Path, header: Header, *, resume: bool = False) -> Iterator[Path]:
    """The folder that the run of `header` writes to, its alone until the end: `out`, or `out`-2, `out`-3, ...

    On `resume` it is `out`, whatever it holds. Raises UsageError where it is in use, or cannot be written to.
    """
    try:
        lock = take(out) if resume else _first(out, header)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"cannot write to {out}: {reason}; give another folder with --out DIR.") from None
    try:
        yield lock.path.parent
    finally:
        release(lock)


def _first(out: Path, header: Header) -> Lock:
    """The first of `out`, `out`-2, ... that the run may have; says so where that is not `out`."""
    lock = _unless_foreign(out, header)
    if isinstance(lock, Lock):
        return lock
    content = lock
    if out.name in ("", ".."):
        raise UsageError(f"{out} holds {content}, which is kept; give another folder with --out DIR.")
    for number in itertools.count(2):
        folder = out.with_name(f"{out.name}-{number}")
        try:
            lock = _unless_foreign(folder, header)
        except (Busy, FileExistsError):
            continue
        if isinstance(lock, Lock):
            sys.stderr.write(f"opproof: {out} holds {content}, which is kept; this run goes to {folder}.\n")
            return lock
    raise AssertionError("there is always another number")


def _unless_foreign(folder: Path, header: Header) -> Lock | str:
    """The folder's lock, or what it holds that the run may not replace. Raises Busy, OSError."""
    lock = take(folder)
    try:
        content = foreign(folder, header)
    except BaseException:
        release(lock)
        raise
    if content:
        release(lock)
        return content
    return lock


def foreign(folder: Path, header: Header) -> str:
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
    return "" if _question(before) == _question(header) else "the run of another call"


def _question(header: Header) -> dict[str, Any]:
    options = {name: header.options.get(name) for name in _QUESTION}
    asked: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(options))  # tuples as they come back: lists
    return asked
