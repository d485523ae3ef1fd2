"""The references are the judge's: a backend that answers with them would be compared with itself.

An audit hook, which no code can take back, refuses to import or open them, and to open another process's memory.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

_PACKAGES = ("opproof.reference_ops", "opproof.cases", "opproof.harness", "opproof.reports")
_OF_A_PROCESS = re.compile(r"/proc/(\d+)(?:/task/\d+)?/(?:mem|fd/.*|map_files/.*)")


def refuse() -> None:
    """From now on this process reads no file of the references, and no memory but its own."""
    top = Path(__file__).resolve().parents[2]
    folders = tuple(f"{top / name.rpartition('.')[2]}{os.sep}" for name in _PACKAGES)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import":
            name = str(arguments[0])
            if name.startswith(_PACKAGES):
                raise ImportError(f"a backend cannot import {name}: what is expected belongs to the judge")
        elif event == "open":
            _check(arguments[0], folders)

    sys.addaudithook(hook)


def _check(path: Any, folders: tuple[str, ...]) -> None:
    if not isinstance(path, str | bytes):
        return
    real = os.path.realpath(os.fsdecode(path))
    if real.startswith(folders):
        raise PermissionError(f"a backend cannot read {real}: what is expected belongs to the judge")
    for name in (real, os.path.abspath(os.fsdecode(path))):  # noqa: PTH100 - a link under /proc/PID/fd is not to be followed
        process = _OF_A_PROCESS.fullmatch(name)
        if process is not None and int(process[1]) != os.getpid():
            raise PermissionError(f"a backend cannot open {name}: the memory of a process is its own")
