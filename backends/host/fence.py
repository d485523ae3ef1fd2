"""What a host's Python does not let a backend do: read the references or the cache, or signal what it did not start.

A backend that answers with the references would be compared with itself. An audit hook is asked before every import,
open and kill; it keeps functions and builtins of its own, so nothing that a backend puts in the place of Python's
gets it round. What foreign code does (ctypes, C, other programs) it does not see; docs/method.md says what holds there.
"""

from __future__ import annotations

import builtins
import os
import sys
from os import fsdecode, getpid, getppid, stat
from pathlib import Path
from types import FunctionType
from typing import Any

from opproof.vocabulary.places import caches

_PACKAGES = ("opproof.reference_ops", "opproof.cases", "opproof.harness", "opproof.reports")


def fence() -> None:
    """Raise it around this process, for good."""
    own: dict[str, Any] = {**globals(), "__builtins__": dict(vars(builtins))}
    for name in ("_hook", "_refuse_open", "_refuse_cache", "_refuse_kill", "_parent"):
        own[name] = FunctionType(own[name].__code__, own, name)
    own |= {"_references": _identities(), "_caches": _folders(), "_keeper": getppid()}
    sys.addaudithook(own["_hook"])


#: Device and number of every file of the references, which a link to one has too, and of the folders of the cache; and
#: the process that ends this one.
_references: frozenset[tuple[int, int]] = frozenset()
_caches: frozenset[tuple[int, int]] = frozenset()
_keeper = 0

_INIT, _UNKNOWN = 1, -1


def _identities() -> frozenset[tuple[int, int]]:
    folder = Path(__file__).resolve().parents[2] / "reference_ops"
    return frozenset((s.st_dev, s.st_ino) for s in map(os.stat, folder.rglob("*.py*")))


def _folders() -> frozenset[tuple[int, int]]:
    try:
        found = [caches(), *(f for f in caches().rglob("*") if f.is_dir())]
        return frozenset((s.st_dev, s.st_ino) for s in map(os.stat, found))
    except (OSError, RuntimeError):  # there is none, or no home
        return frozenset()


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event in {"open", "sqlite3.connect"}:
        _refuse_open(arguments[0])
        _refuse_cache(arguments[0])
    elif event == "import":
        if arguments[0].startswith(_PACKAGES):
            raise ImportError(f"a backend cannot import {arguments[0]}: what is expected belongs to the judge")
    elif event in {"os.kill", "os.killpg"} and arguments[1]:
        _refuse_kill(arguments[0])


def _refuse_open(path: Any) -> None:
    try:
        status = stat(path)  # noqa: PTH116 - the function that is kept
    except (OSError, ValueError, TypeError):
        return
    if (status.st_dev, status.st_ino) in _references:
        raise PermissionError(f"a backend cannot read {fsdecode(path)}: what is expected belongs to the judge")


def _refuse_cache(path: Any) -> None:
    """What lies in a folder of the cache, there or not."""
    try:
        status = stat(fsdecode(path).rpartition("/")[0] or ".")  # noqa: PTH116 - the function that is kept
    except (OSError, ValueError, TypeError):
        return
    if (status.st_dev, status.st_ino) in _caches:
        raise PermissionError(f"a backend cannot open {fsdecode(path)}: what is expected belongs to the judge")


def _refuse_kill(process: int) -> None:
    """Only what the host has started is its own to signal, and the host itself."""
    target = abs(process)  # of a group, its leader
    if target in {0, getpid()}:
        return
    while target not in {_keeper, _INIT, _UNKNOWN}:
        target = _parent(target)
    if target == _INIT or abs(process) == _keeper:
        raise PermissionError(f"a backend cannot signal process {process}: it is not one that the backend has started")


def _parent(process: int) -> int:
    """The process that started another."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123 - the function that is kept
            parent = int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return _UNKNOWN
    return max(parent, _INIT)  # 0 is said of those that were put into a container from outside
