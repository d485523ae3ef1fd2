"""Two columns for every operator, our verdict and a standard's, and one sentence on who keeps the standard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opproof.core.verdicts import Verdict
from opproof.reports._kinds import LABELS, ResultKind, result_kind_of
from opproof.reports._record import Header, Result, StandardVerdict
from opproof.reports._text import (
    describe_standard,
    describe_ulp,
    escape_cell,
    format_count,
    format_line,
    short_names_of,
)
from opproof.reports.profiles import BEYOND, SILENT, WITHIN

#: Operators beyond a limit that the sentence names, at most.
MAX_NAMED = 5
#: Columns of a table.
HEADS = ("operator", "ours", "the standard's", "error", "ULP")


@dataclass(frozen=True)
class StandardRow:
    """The records of values of one operator on one backend, in our eyes and in a standard's."""

    op: str
    backend: str
    kinds: Counter[ResultKind]
    verdicts: Counter[str]  # of the standard
    farthest: Result | None  # by the standard
    largest: Result | None  # by its error in ULP

    @property
    def verdict(self) -> str:
        """What the standard says of all of them: beyond where one is."""
        return next((v for v in (BEYOND, WITHIN) if self.verdicts[v]), SILENT)

    @property
    def is_told(self) -> bool:
        """Whether the two differ from pass and within, or the standard speaks of it at all."""
        return self.verdict == BEYOND or bool(self.kinds[ResultKind.FAILED])


def profile_of(header: Header) -> str:
    """The name of the standard that a run was judged by, too; empty where there was none."""
    return str(header.options.get("profile") or "")


def make_rows(results: Iterable[Result]) -> list[StandardRow]:
    """A row for each operator and backend of which a standard was asked, those beyond its limits first."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for r in results:
        if r.standard is not None and r.mode == "forward":
            groups.setdefault((r.op, r.backend), []).append(r)
    rows = [_make_row(*key, some) for key, some in sorted(groups.items())]
    return sorted(rows, key=lambda row: not row.is_told)


def _make_row(op: str, backend: str, some: Sequence[Result]) -> StandardRow:
    measured = [r for r in some if r.standard is not None and r.standard.share is not None]
    errors = [r for r in some if r.ulp is not None]
    return StandardRow(
        op,
        backend,
        Counter(map(result_kind_of, some)),
        Counter(r.standard.verdict for r in some if r.standard is not None),
        max(measured, key=lambda r: float(_standard_of(r).share or 0), default=None),
        max(errors, key=lambda r: 0.0 if r.ulp is None else float(r.ulp.size), default=None),
    )


def _standard_of(result: Result) -> StandardVerdict:
    assert result.standard is not None
    return result.standard


def format_cells(row: StandardRow, backends: Sequence[str]) -> list[str]:
    """The cells of a row, in words and numbers."""
    names = short_names_of(backends)
    op = f"{row.op} ({names[row.backend]})" if len(backends) > 1 else row.op
    ours = ", ".join(f"{n} {LABELS[k]}" for k in ResultKind if (n := row.kinds[k]))
    theirs = "says nothing" if row.verdict == SILENT else ", ".join(
        f"{n} {v}" for v in (WITHIN, BEYOND, SILENT) if (n := row.verdicts[v])
    )  # fmt: skip
    limit = "" if row.farthest is None else describe_standard(row.farthest)
    return [op, ours, theirs, limit, "" if row.largest is None else describe_ulp(row.largest)]


def describe_profile(header: Header, results: Sequence[Result]) -> str:
    """One sentence: how many operators keep the standard, which exceed it and where; empty without --profile."""
    if not (name := profile_of(header)):
        return ""
    from opproof.reports.profiles.limits import read_profile

    rows = make_rows(results)
    standard = read_profile(name)
    verdicts = Counter(row.verdict for row in rows)
    beyond = [row for row in rows if row.verdict == BEYOND]
    asked = verdicts[WITHIN] + verdicts[BEYOND]
    parts = [f"{standard.title}: {verdicts[WITHIN]} of {format_count(asked, 'operator')} within its limits"]
    if beyond:
        named = [_describe_farthest(row) for row in beyond[:MAX_NAMED]]
        more = [f"{len(beyond) - MAX_NAMED} more"] * (len(beyond) > MAX_NAMED)
        parts.append(f"{len(beyond)} beyond them ({'; '.join([*named, *more])})")
    unjudged = sum(r.standard is None and r.verdict not in _DECLINED and r.mode == "forward" for r in results)
    parts += [f"it says nothing of {format_count(verdicts[SILENT], 'operator')}"] * bool(verdicts[SILENT])
    parts += [f"{format_count(unjudged, 'record')} without an answer to hold against it"] * bool(unjudged)
    return ", ".join(parts)


#: Verdicts of what was not asked.
_DECLINED = (Verdict.UNSUPPORTED,)


def _describe_farthest(row: StandardRow) -> str:
    farthest = row.farthest
    assert farthest is not None
    return f"{format_line(farthest.case)} {describe_standard(farthest)}"


def format_table(header: Header, results: Sequence[Result], limit: int | None) -> str:
    """The table in plain text, at most `limit` rows of which there is something to tell; None shows all."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    if not profile_of(header):
        return ""
    rows, backends = make_rows(results), sorted({r.backend for r in results})
    shown = rows if limit is None else [row for row in rows if row.is_told][:limit]
    if not shown:
        return ""
    cells = [list(map(format_line, format_cells(row, backends))) for row in shown]
    return str(tabulate(cells, HEADS, tablefmt="simple", disable_numparse=True))


def format_markdown(header: Header, results: Sequence[Result]) -> str:
    """The table in Markdown; empty without --profile."""
    if not profile_of(header):
        return ""
    backends = sorted({r.backend for r in results})
    rows = [[escape_cell(cell, 120) for cell in format_cells(row, backends)] for row in make_rows(results)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(HEADS), [":--"] * len(HEADS), *rows])
