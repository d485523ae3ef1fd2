"""The records as a flat table, for people with their own tools: CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import IO

from opproof.core.text import escape_unprintable, make_plain
from opproof.reports._kinds import result_kind_of
from opproof.reports._record import Result

#: The columns, in order. Those of the worst element are empty where a record has none.
COLUMNS = tuple(
    "case op dtype backend mode verdict kind units limit rms bias rounding nonfinite zeros seconds "
    "tensor index got expected bound message diagnosis known repro in_process "
    "ulp ulp_tensor ulp_index standard standard_share".split()
)
_NUMBERS = tuple("units limit rms bias nonfinite seconds got expected bound ulp standard_share".split())
# What spreadsheets take for the beginning of a formula, or drop before one.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_csv(results: Sequence[Result], file: IO[str]) -> None:
    """Write a header and a line per record to `file`, opened with newline="".

    A text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    rows = csv.writer(file)
    rows.writerow(COLUMNS)
    rows.writerows(map(_format_field, COLUMNS, _make_row(result)) for result in results)


def _make_row(r: Result) -> list[float | str | None]:
    w = r.worst
    where = (
        [None] * 5
        if w is None
        else [escape_unprintable(w.tensor), " ".join(map(str, w.index)), w.got, w.expected, w.bound]
    )
    head = [
        *map(escape_unprintable, (r.case, r.op, r.dtype, r.backend)),
        str(r.mode),
        str(r.verdict),
        str(result_kind_of(r)),
    ]
    texts = [make_plain(r.message), make_plain(r.diagnosis), make_plain(r.known), escape_unprintable(r.repro)]
    measured = [r.units, r.limit, r.rms, r.bias, escape_unprintable(r.rounding), r.nonfinite, r.zeros]
    u, s = r.ulp, r.standard
    ulp = [None] * 3 if u is None else [u.size, escape_unprintable(u.tensor), " ".join(map(str, u.index))]
    standard = [None] * 2 if s is None else [escape_unprintable(s.verdict), s.share]
    return [*head, *measured, r.seconds, *where, *texts, r.in_process, *ulp, *standard]


def _format_field(column: str, value: float | str | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)  # which keeps every digit of a float
    number = column in _NUMBERS and value in ("nan", "inf", "-inf")
    return f"'{value}" if value.startswith(_FORMULA) and not number else value
