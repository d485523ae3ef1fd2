"""results.jsonl of a run that goes on: no record is lost or there twice, whatever else writes to it or deletes it.

Where its folder is gone or its disk full, what was measured is kept in another place. A backend may write to the folder
of the report: what it puts there during the run the run mends. What it puts there once the run was killed has no mark
in results.marks, for it has not the key (run/cache/store.py): a run that goes on believes no record without one.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from opproof.core.errors import UsageError
from opproof.reports import Header, Result, ResultsError, read_results
from opproof.reports._results import FILE, encode_record, make_legible
from opproof.reports.remarks import FILE as REMARKS

#: What every run leaves behind, beside results.jsonl.
REPORTS = ("report.html", "report.md", REMARKS)

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
        _write_whole(self._descriptor, self._marker.mark(line))

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
    os.close(replace_file(aside, (folder / FILE).read_bytes()))
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


def _write_whole(descriptor: int, data: bytes) -> None:
    """Write all of `data`, which a disk that fills up takes in part."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def replace_file(path: Path, data: bytes) -> int:
    """Put a file that holds `data` in the place of `path` at once, and return its descriptor, open for appending."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
    try:
        _write_whole(descriptor, data)
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


class _Keyed(Protocol):
    @property
    def backend(self) -> str: ...
    @property
    def case(self) -> str: ...
    @property
    def mode(self) -> str: ...


def key_of(record: _Keyed) -> tuple[str, str, str]:
    """What tells a record, or a task, from all others of a run."""
    return record.backend, record.case, record.mode


class ResultsFile:
    """The records of a run and the file that holds them.

    `tampering` is a sentence about what something else did to the file, empty while nothing has; `lost`, whether it
    could not be written any more. With a `key_of` every record gets a mark, by which a run that goes on knows it.
    """

    def __init__(self, path: Path, header: Header, done: Iterable[Result], key_of_marks: bytes | None = None) -> None:
        self.path, self.header, self.tampering = path, header, ""
        self._records = {key_of(r): make_legible(r) for r in done}
        self._descriptor, self._size, self._look, self.lost = -1, 0, look(path), False
        self._key, self._marks = key_of_marks, marks_of(path, header, key_of_marks)
        self._rewrite(self._lines())

    @property
    def results(self) -> list[Result]:
        """Every record so far."""
        return list(self._records.values())

    def add(self, result: Result) -> Result | None:
        """Write the record. One with its key goes, and is returned. Raises ResultsError where it cannot be written."""
        result = make_legible(result)
        earlier = self._records.get(key_of(result))
        if earlier is not None:
            self.replace(result)
            return earlier
        self._records[key_of(result)] = result
        with self._save_elsewhere():
            if self._look == look(self.path):
                self._append(encode_record(result))
            else:
                self._restore()
        return None

    def replace(self, *results: Result) -> None:
        """Write the file anew, once, with each record in the place of the one with its key. Raises ResultsError."""
        if not results:
            return
        with self._save_elsewhere():
            self._restore()
            self._records |= {key_of(r): make_legible(r) for r in results}
            self._rewrite(self._lines())

    def write_header(self, header: Header) -> None:
        """Write the file anew under another header, by which its marks change too. Raises ResultsError."""
        with self._save_elsewhere():
            self._restore()
            if self._marks is not None:
                self._marks.close()
            self.header, self._marks = header, marks_of(self.path, header, self._key)
            self._rewrite(self._lines())

    def verify(self) -> None:
        """Make sure that the file holds what this run wrote, byte for byte. Raises ResultsError."""
        if not self.lost:
            with self._save_elsewhere():
                self._restore()

    def close(self) -> None:
        """Give the descriptors back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
        if self._marks is not None:
            self._marks.close()

    @contextmanager
    def _save_elsewhere(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.lost = True
            raise save_elsewhere(self.path, error, self.header, self.results, self._key) from None

    def _append(self, line: bytes) -> None:
        if self._marks is not None:
            self._marks.add(line)
        try:
            _write_whole(self._descriptor, line)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._size)  # half a line helps nobody
            raise
        self._size += len(line)
        if self._look is not None:
            self._look = (*self._look[:2], self._look[2] + len(line))

    def _restore(self) -> None:
        """Write the file again unless it holds the records, and note what was done to it."""
        lines = self._lines()
        whole = b"".join(lines)
        content = read_content(self.path, limit=len(whole))
        # An interruption between writing a line and noting its size leaves more than noted: that was this run.
        ours = content is not None and len(content) >= self._size and whole.startswith(content)
        if not ours and not self.tampering:
            deed = "removed" if content is None else "cut short" if whole.startswith(content) else "changed"
            self.tampering = (
                f"{self.path} was {deed} by something else during the run, perhaps by the backend;"
                f" it was written again from the {len(self._records):,} records that the run holds."
            )
        if content != whole or self._look != look(self.path):
            self._rewrite(lines)

    def _lines(self) -> list[bytes]:
        return [encode_record(self.header), *map(encode_record, self._records.values())]

    def _rewrite(self, lines: Sequence[bytes]) -> None:
        """Write all records to a new file and move it to the place of the old one."""
        if self._marks is not None:
            self._marks.rewrite(lines[1:])
        whole = b"".join(lines)
        descriptor = replace_file(self.path, whole)
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._size, self._look = descriptor, len(whole), look(self.path)


@contextmanager
def open_results_file(
    folder: Path, header: Header, done: Iterable[Result] = (), key_of_marks: bytes | None = None
) -> Iterator[ResultsFile]:
    """The results file in `folder`, begun with the records that are there already, whole also after an exception.

    Raises UsageError where it cannot be begun, ResultsError where what was measured had to be kept elsewhere.
    """
    try:
        file = ResultsFile(folder / FILE, header, done, key_of_marks)
        for name in REPORTS:  # they tell of other records
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"cannot write to {folder}: {reason}; give another folder with --out DIR.") from None
    try:
        yield file
    except BaseException:
        file.verify()
        if file.tampering and not file.lost:
            sys.stderr.write(f"opproof: {file.tampering}\n")
        raise
    finally:
        file.close()


def save_elsewhere(
    path: Path, error: OSError, header: Header, results: Sequence[Result], key_of_marks: bytes | None
) -> ResultsError:
    """What to raise where `path` cannot be written: it says why, and where the records are now."""
    said, where = f"cannot write {path}: {_reason_of(error)}", "anything in a temporary folder"
    try:
        folder = Path(tempfile.mkdtemp(prefix="opproof-report-"))
        where = f"in {folder.parent}"
        lines = [encode_record(r) for r in results]
        (folder / FILE).write_bytes(b"".join([encode_record(header), *lines]))
        if (marks := marks_of(folder / FILE, header, key_of_marks)) is not None:
            marks.rewrite(lines)
            marks.close()
    except OSError as second:
        if where.startswith("in "):
            shutil.rmtree(folder, ignore_errors=True)
        return ResultsError(f"{said}, nor {where}: {_reason_of(second)}; {_count_left(path, results)}")
    return ResultsError(
        f"{said}; the records so far, {len(results):,}, are in {folder},"
        f" and `opproof run --resume {shlex.quote(str(folder))}` goes on there."
    )


def _count_left(path: Path, results: Sequence[Result]) -> str:
    try:
        kept = len(read_results(path)[1])
    except ResultsError:
        kept = 0
    return f"the file has {kept:,} of the {len(results):,} records so far."


def _reason_of(error: OSError) -> str:
    return error.strerror or str(error)
