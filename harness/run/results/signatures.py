"""results.marks: a keyed mark of every record that a run wrote, so that going on with it believes no other.

A backend may write to the folder of the report. What it puts there during the run the run mends (look); what it
puts there once the run was killed has no mark, for it has not the key (run/cache/location.py).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from opproof.reports import Header, Result
from opproof.reports._results import FILE as RESULTS
from opproof.reports._results import encode_record

SIGNATURE_FILE = "results.marks"
#: What has no mark when a run is gone on with is kept under this name, for `opproof report` and the like to read.
UNMARKED = "results.unmarked.jsonl"
_MARK_BYTES = 16


class Signer:
    """Makes the marks of one run's records: under another header they are others, so none can be brought along."""

    def __init__(self, key: bytes, header: Header) -> None:
        # The header may name thousands of cases: it is read once, and not for every record.
        self._begun = hashlib.blake2b(encode_record(header), key=key, digest_size=_MARK_BYTES)

    def mark(self, line: bytes) -> bytes:
        """The mark of a record's line, a line too."""
        digest = self._begun.copy()
        digest.update(line)
        return digest.hexdigest().encode() + b"\n"


class SignatureFile:
    """The file of marks, beside results.jsonl. All that goes wrong with it is an OSError."""

    def __init__(self, path: Path, marker: Signer) -> None:
        self.path, self._marker, self._descriptor = path, marker, -1

    def add(self, line: bytes) -> None:
        """Write the mark of a record; before the record itself, for a mark without one does no harm."""
        write(self._descriptor, self._marker.mark(line))

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Write the marks of all records anew."""
        self.close()
        self._descriptor = replace_file(self.path, b"".join(map(self._marker.mark, lines)))

    def close(self) -> None:
        """Give the descriptor back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def marks_of(path: Path, header: Header, key: bytes | None) -> SignatureFile | None:
    """The marks of the run that writes to `path`; None without a key, and then none of another run lie there either."""
    file = path.with_name(SIGNATURE_FILE)
    if key is not None:
        return SignatureFile(file, Signer(key, header))
    with suppress(FileNotFoundError):
        file.unlink()
    return None


def select_signed(folder: Path, header: Header, results: Sequence[Result], key: bytes | None) -> list[Result]:
    """Those of the records in `folder` that this user's opproof wrote under `header`."""
    if key is None:
        return []
    try:
        there = frozenset((folder / SIGNATURE_FILE).read_bytes().splitlines(keepends=True))
    except OSError:
        return []
    marker = Signer(key, header)
    return [r for r in results if marker.mark(encode_record(r)) in there]


def keep_aside(folder: Path) -> Path:
    """Keep results.jsonl as it is under another name, and return that. Raises OSError."""
    aside = folder / UNMARKED
    os.close(replace_file(aside, (folder / RESULTS).read_bytes()))
    return aside


def look(path: Path) -> tuple[int, int, int] | None:
    """Device, inode and size of the file that the name leads to now; None where there is none.

    What differs from the last look says that something else wrote to it. No time of the last write: file systems on a
    network mend that afterwards. An edit that keeps the size is seen when the content is read.
    """
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size


def read_content(path: Path, limit: int) -> bytes | None:
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


def replace_file(path: Path, data: bytes) -> int:
    """Put a file that holds `data` in the place of `path` at once, and return its descriptor, open for appending."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
    try:
        write(descriptor, data)
        os.fsync(descriptor)
        clear_path(path)
        part.replace(path)
    except BaseException:
        os.close(descriptor)
        part.unlink(missing_ok=True)
        raise
    return descriptor


def clear_path(path: Path) -> None:
    """Move aside what stands under the name of a file and is none: a folder, a link, a pipe that nobody reads."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            path.rename(path.with_name(f"{path.name}.{secrets.token_hex(4)}.aside"))
