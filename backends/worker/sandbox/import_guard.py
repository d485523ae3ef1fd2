"""What a host's Python does not let a backend do: read or move references or the cache, or signal what is not its own.

A backend that answers with the references would be compared with itself. An audit hook is asked before every import,
open, link, move, removal and kill; it keeps functions and builtins of its own, so nothing that a backend puts in the
place of Python's gets it round. What foreign code does (ctypes, C, other programs, SQLite's ATTACH) it does not see,
nor what a link is turned to between its look and the opening, and who takes the hook itself apart is not held by it;
docs/explanation/security.md says what holds there.
"""

from __future__ import annotations

import builtins
import functools
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.util import cache_from_source
from os import DirEntry, getpid, getppid, listdir, readlink, stat
from pathlib import Path, PosixPath
from types import FunctionType
from typing import Any, TypeAlias

import opproof
from opproof.core.system import find_cache_folder

_PACKAGES = ("opproof.reference_ops", "opproof.cases", "opproof.harness", "opproof.reports")


def install_import_guard(private: Iterable[str] = ()) -> None:
    """Raise it around this process, for good; `private` are files of other references, the user's own."""
    own: dict[str, Any] = {**globals(), "__builtins__": dict(vars(builtins))}
    for name, value in list(own.items()):
        if isinstance(value, FunctionType) and value.__module__ == __name__:
            own[name] = FunctionType(value.__code__, own, name)
    files, folders = _list_within(*find_own_caches(), REFERENCES)
    for path in with_compiled(private):
        if path.exists():
            files[_identity_of(path.stat())] = str(path)
    own |= {"_files": files, "_folders": folders, "_supervisor": getppid()}
    sys.addaudithook(own["_hook"])


#: Device and number of a file or folder: a link to it has the same, and once it is removed another may get them.
_Identity: TypeAlias = tuple[int, int]

#: Of every file of the references and of the cache, and of their folders, where it lies; and the process that ends this
#: one.
_files: dict[_Identity, str] = {}
_folders: dict[_Identity, str] = {}
_supervisor = 0

#: The folder of the references.
REFERENCES = Path(__file__).resolve().parents[3] / "reference_ops"
#: Events whose first argument names a file, and those whose second one does too.
_OPENED = {"open", "sqlite3.connect", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.chown"}
_MOVED = {"os.link", "os.rename"}

_INIT_PID = 1
_UNKNOWN_PID = -1
#: Links that lead to one another, at most; and the commands of fcntl that have signals sent to a process.
_MAX_LINKS, _OWNER_COMMANDS = 40, {8, 15}


def find_own_caches() -> tuple[Path, ...]:
    """The folder of opproof's cache; none where its user has no home."""
    try:
        return (find_cache_folder(),)
    except RuntimeError:  # no home
        return ()


@functools.cache
def find_libraries() -> tuple[Path, ...]:
    """Folders of what Python imports, and of opproof: what is written there is part of the next run."""
    import sysconfig

    package = Path(str(opproof.__file__)).parent  # in a clone that is src/opproof, which links the others
    own = (package, *(path for path in REFERENCES.parent.iterdir() if (path / "__init__.py").is_file()))
    python = (Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))
    folders = [path for path in dict.fromkeys((*python, *own)) if path.is_dir()]
    return tuple(f for f in folders if not any(f.is_relative_to(outer) and f != outer for outer in folders))


def with_compiled(files: Iterable[str | Path]) -> list[Path]:
    """Files of Python, each with what Python keeps of it."""
    return [Path(path) for file in files for path in (file, cache_from_source(str(file)))]


def _list_within(*folders: Path) -> tuple[dict[_Identity, str], dict[_Identity, str]]:
    """Files and folders."""
    files: dict[_Identity, str] = {}
    inner: dict[_Identity, str] = {}
    for folder in folders:
        try:
            for path in (folder, *folder.rglob("*")):
                if path.exists():
                    (inner if path.is_dir() else files)[_identity_of(path.stat())] = str(path)
        except OSError:  # one that is gone since
            continue
    return files, inner


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _OPENED:
        _refuse_file(arguments[0], uri=event == "sqlite3.connect")
    elif event in _MOVED:
        _refuse_file(arguments[0], uri=False)
        _refuse_file(arguments[1], uri=False)
    elif event == "import":
        if str.startswith(arguments[0], _PACKAGES):
            raise ImportError(f"a backend cannot import {arguments[0]}: what is expected belongs to the judge")
    elif event == "resource.prlimit" or (event in {"os.kill", "os.killpg"} and arguments[1]):
        _refuse_process(arguments[0])
    elif event == "fcntl.fcntl" and arguments[1] in _OWNER_COMMANDS and isinstance(arguments[2], int):
        _refuse_process(arguments[2])


def _refuse_file(path: Any, *, uri: bool) -> None:
    """Of the references or the cache, or in a folder of theirs, whatever leads to it."""
    text = _text_of(path)
    for named in () if text is None else (text, _path_of(text)) if uri else (text,):
        if any(_is_ours(name, folder) for name, folder in _resolve_names(named)):
            raise PermissionError(f"a backend cannot read {text}: what is expected belongs to the judge")


def _text_of(path: Any) -> str | None:
    """The name that the system is given; None for a descriptor. What makes one anew at every question is refused."""
    if type(path) in (PosixPath, DirEntry):
        path = path.__fspath__()
    if isinstance(path, bytes):
        return bytes.decode(path, "utf-8", "surrogateescape")
    if isinstance(path, str):
        return str.__getitem__(path, slice(None))
    if isinstance(path, int):
        return None
    raise PermissionError(f"a backend cannot open a file by a {type(path).__name__}: give its name as a text")


def _path_of(uri: str) -> str:
    """The file that a name of SQLite's means: file://host/path?query#fragment, with %20 for a space."""
    if uri[:5] != "file:":
        return uri
    rest = uri[5:].partition("#")[0].partition("?")[0]
    if rest[:2] == "//":
        rest = "/" + rest[2:].partition("/")[2]
    first, *parts = rest.split("%")
    decoded = first.encode("utf-8", "surrogateescape")
    for part in parts:
        try:
            decoded += bytes.fromhex(part[:2]) + part[2:].encode("utf-8", "surrogateescape")
        except ValueError:
            decoded += b"%" + part.encode("utf-8", "surrogateescape")
    return decoded.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _resolve_names(text: str) -> Iterator[tuple[str, int | None]]:
    """The name, those of the links that it leads over, and what a relative one is in the folders that are open."""
    name = text
    for _ in range(_MAX_LINKS):
        yield name, None
        try:
            target = readlink(name)  # noqa: PTH115 - the function that is kept
        except (OSError, ValueError):
            break
        name = target if target[:1] == "/" else f"{name.rpartition('/')[0] or '.'}/{target}"
    if text[:1] != "/":
        for descriptor in listdir("/proc/self/fd") if _has_proc() else ():  # noqa: PTH208 - the function that is kept
            yield text, int(descriptor)


def _has_proc() -> bool:
    try:
        stat("/proc/self/fd")  # noqa: PTH116 - the function that is kept
    except OSError:
        return False
    return True


def _is_ours(name: str, folder: int | None) -> bool:
    """Whether it is one of the files or folders, or lies in one of the folders, there or not."""
    found, within = _find_identity(name, folder), _find_identity(name.rpartition("/")[0] or ".", folder)
    return _is_one_of(_files, found) or _is_one_of(_folders, found) or _is_one_of(_folders, within)


def _is_one_of(ours: dict[_Identity, str], found: _Identity | None) -> bool:
    """Whether it is one of `ours`, which lies where it did: the cache removes files, whose numbers others get."""
    return found is not None and found in ours and _find_identity(ours[found], None) == found


def _find_identity(name: str, folder: int | None) -> _Identity | None:
    try:
        return _identity_of(stat(name, dir_fd=folder))
    except (OSError, ValueError, TypeError):
        return None


def _identity_of(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


def _refuse_process(process: int) -> None:
    """Only what the host has started is its own to signal and to limit, and the host itself."""
    target = abs(process)  # of a group, its leader
    if target in {0, getpid()}:
        return
    while target not in {_supervisor, _INIT_PID, _UNKNOWN_PID}:
        target = _parent_of(target)
    if target == _INIT_PID or abs(process) == _supervisor:
        raise PermissionError(f"a backend cannot signal process {process}: it is not one that the backend has started")


def _parent_of(process: int) -> int:
    """The process that started another."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123 - the function that is kept
            parent = int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return _UNKNOWN_PID
    return max(parent, _INIT_PID)  # 0 is said of those that were put into a container from outside
