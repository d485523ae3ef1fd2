"""results.jsonl: a header line, then one record a line, readable whatever interrupted its writing."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import msgspec

from opproof.reports._record import SCHEMA_VERSION, Header, Result
from opproof.vocabulary.errors import ResultsError

FILE = "results.jsonl"


def write_line(file: IO[bytes], record: Header | Result) -> None:
    """Append one line and flush it, so that an interrupted run loses nothing."""
    fields = msgspec.to_builtins(record)
    if fields.get("evidence", "") is None:
        del fields["evidence"]
    file.write(msgspec.json.encode(fields) + b"\n")
    file.flush()


def read_results(folder: Path) -> tuple[Header, list[Result]]:
    """The header and records of `folder`/results.jsonl (or of the file itself).

    A last line cut short by an interruption is left out. Raises ResultsError otherwise.
    """
    path = folder / FILE if folder.is_dir() else folder
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        reason = error.strerror or error
        raise ResultsError(f"cannot read {path}: {reason}; `opproof run --out DIR` writes DIR/{FILE}.") from None
    try:
        header = msgspec.json.decode(lines[0], type=Header)
    except msgspec.DecodeError as error:
        raise ResultsError(f"{path}, line 1: expected a run header, got {lines[0][:60]!r} ({error}).") from None
    if header.schema != SCHEMA_VERSION:
        raise ResultsError(
            f"{path} has schema version {header.schema}, this opproof reads {SCHEMA_VERSION}; rerun with it."
        )
    records = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        try:
            records.append(msgspec.json.decode(line, type=Result))
        except msgspec.DecodeError as error:
            if number == len(lines):  # no newline behind it: cut short
                break
            raise ResultsError(
                f"{path}, line {number}: not a result record ({error}); remove that line, or rerun with --resume."
            ) from None
    return header, records
