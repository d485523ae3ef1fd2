"""What was measured, when its folder is gone or its disk full: kept in another place, and said where."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from opproof.harness.run.results.marks import marks_of
from opproof.reports import Header, Result, ResultsError, read_results
from opproof.reports._results import FILE, encoded


def rescued(
    path: Path, error: OSError, header: Header, results: Sequence[Result], key_of_marks: bytes | None
) -> ResultsError:
    """What to raise where `path` cannot be written: it says why, and where the records are now."""
    said = f"cannot write {path}: {_reason(error)}"
    try:
        folder = Path(tempfile.mkdtemp(prefix="opproof-report-"))
    except OSError as second:
        return ResultsError(f"{said}, nor anything in a temporary folder: {_reason(second)}; {_left(path, results)}")
    try:
        lines = [encoded(r) for r in results]
        (folder / FILE).write_bytes(b"".join([encoded(header), *lines]))
        if (marks := marks_of(folder / FILE, header, key_of_marks)) is not None:
            marks.rewrite(lines)
            marks.close()
    except OSError as second:
        shutil.rmtree(folder, ignore_errors=True)
        return ResultsError(f"{said}, nor in {folder.parent}: {_reason(second)}; {_left(path, results)}")
    return ResultsError(
        f"{said}; the records so far, {len(results):,}, are in {folder},"
        f" and `opproof run --resume {shlex.quote(str(folder))}` goes on there."
    )


def _left(path: Path, results: Sequence[Result]) -> str:
    """How many records the file still has."""
    try:
        kept = len(read_results(path)[1])
    except ResultsError:
        kept = 0
    return f"the file has {kept:,} of the {len(results):,} records so far."


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
