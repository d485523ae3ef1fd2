"""The records as a flat table, for people with their own tools: CSV, and Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from opproof.reports._record import Result
from opproof.reports._summary import kind

#: The columns, in order. Those of the worst element are empty where a record has none.
COLUMNS = tuple(
    "case op dtype backend mode verdict kind units seconds "
    "tensor index got expected bound message diagnosis known repro".split()
)
_NUMBERS = ("units", "seconds", "got", "expected", "bound")


def write_csv(results: Sequence[Result], file: IO[str]) -> None:
    """Write a header and a line per record to `file`, opened with newline=""."""
    rows = csv.writer(file)
    rows.writerow(COLUMNS)
    rows.writerows([_text(value) for value in _row(result)] for result in results)


def write_parquet(results: Sequence[Result], path: Path | str) -> None:
    """Write a Parquet file. Raises ModuleNotFoundError with a sentence where pyarrow is missing."""
    try:
        import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]
        import pyarrow.parquet as pq  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Parquet needs pyarrow: pip install pyarrow, or write CSV.", name=error.name
        ) from None
    columns = list(zip(*map(_row, results), strict=True)) if results else [()] * len(COLUMNS)
    arrays = {
        name: pa.array([None if v is None else float(v) for v in column], pa.float64())
        if name in _NUMBERS
        else pa.array(list(column), pa.string())
        for name, column in zip(COLUMNS, columns, strict=True)
    }
    pq.write_table(pa.table(arrays), path)


def _row(r: Result) -> list[float | str | None]:
    w = r.worst
    where = [None] * 5 if w is None else [w.tensor, " ".join(map(str, w.index)), w.got, w.expected, w.bound]
    head = [r.case, r.op, r.dtype, r.backend, r.mode, r.verdict, kind(r), r.units, r.seconds]
    return [*head, *where, r.message, r.diagnosis, r.known, r.repro]


def _text(value: float | str | None) -> str:
    # repr keeps every digit of a float
    return "" if value is None else value if isinstance(value, str) else repr(value)
