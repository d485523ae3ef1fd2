"""Files of a call that another machine may lack: a backend's, and folders of operators. They travel with the tasks."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from opproof.core.capabilities import renamed
from opproof.harness.run.task import Task
from opproof.reports import Result

#: Bytes that one file may have: all of them are in every message.
LARGEST = 2**26


@dataclass(frozen=True)
class Shipped:
    """A file, or the Python files of a folder, under the name that the call has for it."""

    name: str
    parts: tuple[tuple[str, bytes], ...]  # relative path and content

    @property
    def digest(self) -> str:
        """Of its name and all that it holds."""
        whole = hashlib.blake2b(self.name.encode(), digest_size=12)
        for path, content in self.parts:
            whole.update(path.encode() + b"\0" + hashlib.blake2b(content).digest())
        return whole.hexdigest()


def shipped(names: Iterable[str]) -> tuple[Shipped, ...]:
    """Those of `names` that are files or folders here, small enough to travel."""
    return tuple(one for name in dict.fromkeys(names) if (one := _read(name)) is not None)


def placed(files: Iterable[Shipped]) -> dict[str, str]:
    """Where each lies on this machine, by its name: written once, under a name that its content has."""
    at: dict[str, str] = {}
    for one in files:
        folder = Path(tempfile.gettempdir()) / f"opproof-shipped-{one.digest}"
        base = folder / (Path(one.name).name or "folder")
        single = len(one.parts) == 1 and not one.parts[0][0]
        for relative, content in one.parts:
            path = base if single else base / relative
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.write_bytes(content)
        at[one.name] = str(base)
    return at


def there(task: Task, at: Mapping[str, str]) -> Task:
    """The task by the names that its files have on this machine."""
    return replace(task, backend=renamed(task.backend, at), ops=tuple(at.get(o, o) for o in task.ops))


def back(result: Result, at: Mapping[str, str]) -> Result:
    """The record by the names that the call has for its files."""
    names = {path: name for name, path in at.items()}
    repro, message = result.repro, result.message
    for path, name in names.items():
        repro, message = repro.replace(path, name), message.replace(path, name)
    return replace(result, backend=renamed(result.backend, names), repro=repro, message=message)


def _read(name: str) -> Shipped | None:
    path = Path(name)
    if path.is_dir():
        found = sorted(path.rglob("*.py"))
        return Shipped(name, tuple((str(p.relative_to(path)), p.read_bytes()) for p in found))
    if path.is_file() and path.stat().st_size <= LARGEST:
        return Shipped(name, (("", path.read_bytes()),))
    return None
