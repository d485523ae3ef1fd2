"""Files that are written whole or not at all: under a temporary name beside, then moved."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opproof.core.errors import UsageError

#: What to do where a file cannot be written.
_ELSEWHERE = "give another file."


def write(file: Path, text: str, *, instead: str = _ELSEWHERE) -> None:
    """Make `text` the contents of `file`. Raises UsageError that says what to do `instead`; the old are there then."""
    with replacing(file, instead=instead) as fresh:
        fresh.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


@contextmanager
def replacing(file: Path, *, instead: str = _ELSEWHERE) -> Iterator[Path]:
    """The path to write the new contents of `file` to. They take its place when the block ends, not when it raises.

    Folders are made where they lack; what is no ordinary file, such as /dev/stdout, is written in place. An OSError
    becomes a UsageError.
    """
    with writable(file, instead=instead):
        if file.exists() and not file.is_file():
            yield file
            return
        target = file.resolve()  # of a link, the file that it leads to
        fresh = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            yield fresh
            if target.exists():
                shutil.copymode(target, fresh)
            fresh.replace(target)
        finally:
            fresh.unlink(missing_ok=True)


@contextmanager
def writable(file: Path, *, instead: str = _ELSEWHERE) -> Iterator[None]:
    """A block that writes `file`, whose folder is made first. An OSError becomes a UsageError."""
    try:
        if not file.parent.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}; {instead}") from None
