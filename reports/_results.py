"""results.jsonl: a header line, then one record a line, readable whatever interrupted its writing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from opproof.core.errors import ResultsError
from opproof.core.system import uncollected
from opproof.core.text import escape_unprintable
from opproof.core.verdicts import Verdict
from opproof.reports._record import SCHEMA_VERSION, Header, Result

FILE = "results.jsonl"

#: No header is longer, in bytes; a file of another program may be one endless line.
_MAX_HEADER_BYTES = 2**26

#: Texts that thousands of records that do not pass have alike, which are once in memory.
_OFTEN = ("message", "known")
#: How the line of a record ends that has no evidence, which is the last field; it is left out.
_NO_EVIDENCE = b',"evidence":null}'
#: Bytes that are read at once.
_BLOCK_BYTES = 2**20

#: Texts (and limits) that were read, so that each is once in memory.
Texts = dict[Any, Any]

_Record = TypeVar("_Record", bound=Header | Result)


def encode_record(record: Header | Result) -> bytes:
    """One line of the file, with its end."""
    try:
        line = msgspec.json.encode(record)
    except UnicodeEncodeError:
        line = msgspec.json.encode(make_legible(record))
    return (line[: -len(_NO_EVIDENCE)] + b"}" if line.endswith(_NO_EVIDENCE) else line) + b"\n"


def make_legible(record: _Record) -> _Record:
    """The record as the file will have it: a lone surrogate, which no UTF-8 can hold, becomes its escape."""
    try:
        msgspec.json.encode(record)
    except UnicodeEncodeError:
        return msgspec.convert(_escape(msgspec.to_builtins(record)), type(record))
    return record


def _escape(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_escape(key): _escape(part) for key, part in value.items()}
    return [_escape(part) for part in value] if isinstance(value, list | tuple) else value


def write_line(file: IO[bytes], record: Header | Result) -> None:
    """Append one line and flush it, so that an interrupted run loses nothing."""
    file.write(encode_record(record))
    file.flush()


def read_header(folder: Path) -> Header:
    """The header of `folder`/results.jsonl (or of the file itself). Raises ResultsError."""
    path = _find_path(folder)
    try:
        with path.open("rb") as file:
            first = file.readline(_MAX_HEADER_BYTES)
    except OSError as error:
        raise _make_read_error(path, error) from None
    return _parse_header(path, first.removesuffix(b"\n"))


def read_results(folder: Path, *, brief: Texts | None = None) -> tuple[Header, list[Result]]:
    """The header and records of `folder`/results.jsonl (or of the file itself).

    `brief`: records that pass hold no more than a comparison asks for, no command, no worst element, and texts are
    shared with all that was read with the same `brief`. A last line cut short by an interruption is left out. Raises
    ResultsError otherwise.
    """
    path = _find_path(folder)
    try:
        with path.open("rb") as file, uncollected():
            header = _parse_header(path, file.readline().removesuffix(b"\n"))
            return header, list(_read_records(path, file, header, brief))
    except OSError as error:
        raise _make_read_error(path, error) from None


def _read_records(path: Path, file: IO[bytes], header: Header, brief: Texts | None) -> Iterator[Result]:
    """The records of all lines but the first."""
    decoder, number = msgspec.json.Decoder(Result), 2
    texts = Texts() if brief is None else brief
    while lines := file.readlines(_BLOCK_BYTES):
        try:
            records = decoder.decode_lines(b"".join(lines))
            for record in records:
                _check_numbers(record)
        except (msgspec.DecodeError, UnicodeDecodeError):
            records = list(_read_one_by_one(path, lines, number, header))
        _share(records, texts, brief is not None)
        yield from records
        number += len(lines)


def _share(records: Sequence[Result], texts: Texts, brief: bool) -> None:
    """Texts that others have are theirs; of records that pass, where `brief`, only what a comparison asks for stays."""
    assign, known, passed = object.__setattr__, texts.setdefault, Verdict.PASS
    for r in records:
        assign(r, "op", known(r.op, r.op))
        assign(r, "dtype", known(r.dtype, r.dtype))
        assign(r, "backend", known(r.backend, r.backend))
        assign(r, "rounding", known(r.rounding, r.rounding))
        if r.verdict is not passed:
            for name in _OFTEN:
                text = getattr(r, name)
                assign(r, name, known(text, text))
        elif brief:
            assign(r, "repro", "")
            if r.worst is not None:
                assign(r, "worst", None)
            if r.judging is not None:
                assign(r, "judging", None)
            if r.ulp is not None:
                assign(r, "ulp", None)
            if r.finite_units:
                assign(r, "finite_units", 0.0)
            if r.share is not None:
                assign(r, "share", None)
        if brief:
            assign(r, "case", known(r.case, r.case))
            assign(r, "limit", known(r.limit, r.limit))


def _read_one_by_one(path: Path, lines: Sequence[bytes], first: int, header: Header) -> Iterator[Result]:
    """The records of lines one of which is none, but a last one cut short. Raises ResultsError with its number."""
    decode = msgspec.json.Decoder(Result).decode
    for number, line in enumerate(lines, start=first):
        if line == b"\n":
            continue
        try:
            yield _check_numbers(decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            fields = _parse_json(line)
            if fields is None and not line.endswith(b"\n"):  # cut short
                return
            raise ResultsError(f"{path}, line {number}: {_explain_bad_line(fields, error, header)}") from None


def _parse_json(line: bytes) -> Any:
    """What a line says; None where it is not JSON."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _check_numbers(record: Result) -> Result:
    """`record`, where texts in the place of numbers are numbers. Raises ValidationError."""
    worst = () if record.worst is None else (record.worst.got, record.worst.expected, record.worst.bound)
    ulp = () if record.ulp is None else (record.ulp.size,)
    share = () if record.standard is None else (record.standard.share,)
    for value in (record.units, record.finite_units, *worst, *ulp, *share):
        if isinstance(value, str) and value not in ("nan", "inf", "-inf"):
            raise msgspec.ValidationError(f"expected a number, nan, inf or -inf, got {value[:40]!r}")
    return record


def _explain_bad_line(fields: Any, error: Exception, header: Header) -> str:
    """Why a line is no record."""
    verdict = fields.get("verdict") if isinstance(fields, dict) else None
    if isinstance(verdict, str) and verdict not in set(Verdict) and verdict not in Verdict.__members__:
        return (
            f"unknown verdict {verdict[:40]!r}, expected one of {', '.join(Verdict)}; "
            f"read it with the opproof that wrote it, {escape_unprintable(header.opproof)}."
        )
    return f"not a result record ({error}); remove that line, or rerun with --resume."


def _find_path(folder: Path) -> Path:
    return folder / FILE if folder.is_dir() else folder


def _make_read_error(path: Path, error: OSError) -> ResultsError:
    reason = error.strerror or error
    return ResultsError(f"cannot read {path}: {reason}; `opproof run --out DIR` writes DIR/{FILE}.")


def _parse_header(path: Path, line: bytes) -> Header:
    try:
        header = msgspec.json.decode(line, type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ResultsError(f"{path}, line 1: expected a run header, got {line[:60]!r} ({error}).") from None
    if header.schema != SCHEMA_VERSION:
        raise ResultsError(
            f"{path} has schema version {header.schema}, this opproof reads {SCHEMA_VERSION}; rerun with it."
        )
    return header
