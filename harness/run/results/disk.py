"""The file that a run writes, as the system shows it; what goes wrong is an OSError."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Look(NamedTuple):
    """The file as its name leads to it. One that differs from the last means that something else wrote to it.

    No time of the last write: file systems on a network mend that afterwards. An edit that keeps the size is seen
    when the content is read.
    """

    device: int
    inode: int
    size: int


def look(path: Path) -> Look | None:
    """The file now; None where there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return Look(status.st_dev, status.st_ino, status.st_size)


def content(path: Path, limit: int) -> bytes | None:
    """The bytes of the file, up to one more than `limit`; None where there is no such file, or it is no file."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError:
        return None


def write(descriptor: int, data: bytes) -> None:
    """Write all of `data`, which a disk that fills up takes in part."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def moved(path: Path, data: bytes) -> int:
    """Put a file that holds `data` in the place of `path` at once, and return its descriptor, open for appending."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
    try:
        write(descriptor, data)
        os.fsync(descriptor)
        cleared(path)
        part.replace(path)
    except BaseException:
        os.close(descriptor)
        part.unlink(missing_ok=True)
        raise
    return descriptor


def cleared(path: Path) -> None:
    """Move aside what stands under the name of a file and is none: a folder, a link, a pipe that nobody reads."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            path.rename(path.with_name(f"{path.name}.{secrets.token_hex(4)}.aside"))
