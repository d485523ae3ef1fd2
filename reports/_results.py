"""results.jsonl: a header line, then one record a line, readable whatever interrupted its writing."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import msgspec

from opproof.reports._record import SCHEMA_VERSION, Header, Result
from opproof.vocabulary.errors import ResultsError
from opproof.vocabulary.text import visible
from opproof.vocabulary.verdicts import Verdict

FILE = "results.jsonl"


def write_line(file: IO[bytes], record: Header | Result) -> None:
    """Append one line and flush it, so that an interrupted run loses nothing."""
    fields = msgspec.to_builtins(record)
    if fields.get("evidence", "") is None:
        del fields["evidence"]
    try:
        line = msgspec.json.encode(fields)
    except UnicodeEncodeError:  # lone surrogates, as in the name of a file that is not UTF-8
        line = msgspec.json.encode(_visible(fields))
    file.write(line + b"\n")
    file.flush()


def _visible(value: Any) -> Any:
    if isinstance(value, dict):
        return {visible(key): _visible(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_visible(item) for item in value]
    return visible(value) if isinstance(value, str) else value


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
    decoder = msgspec.json.Decoder(Result)
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        try:
            records.append(_sound(decoder.decode(line)))
        except msgspec.ValidationError as error:
            raise ResultsError(f"{path}, line {number}: {_objection(line, error, header)}") from None
        except msgspec.DecodeError as error:
            if number == len(lines):  # no newline behind it: cut short
                break
            raise ResultsError(
                f"{path}, line {number}: not a result record ({error}); remove that line, or rerun with --resume."
            ) from None
    return header, records


def _sound(record: Result) -> Result:
    """`record`, where texts in the place of numbers are numbers. Raises ValidationError."""
    worst = () if record.worst is None else (record.worst.got, record.worst.expected, record.worst.bound)
    for value in (record.units, *worst):
        if isinstance(value, str) and value not in ("nan", "inf", "-inf"):
            raise msgspec.ValidationError(f"expected a number, nan, inf or -inf, got {value[:40]!r}")
    return record


def _objection(line: bytes, error: msgspec.ValidationError, header: Header) -> str:
    """Why a line of JSON is no record."""
    fields = msgspec.json.decode(line)
    verdict = fields.get("verdict") if isinstance(fields, dict) else None
    if isinstance(verdict, str) and verdict not in set(Verdict):
        return (
            f"unknown verdict {verdict[:40]!r}, expected one of {', '.join(Verdict)}; "
            f"read it with the opproof that wrote it, {visible(header.opproof)}."
        )
    return f"not a result record ({error}); remove that line, or rerun with --resume."
