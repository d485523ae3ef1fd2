"""Markdown for a pull-request comment: the sentence, a table, the failures folded by cause."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opproof.core.text import visible
from opproof.reports import declared, rounding
from opproof.reports._kinds import COLUMNS, LABELS, Kind, share
from opproof.reports._record import Header, Result
from opproof.reports._summary import (
    Row,
    failures,
    grouped,
    kinds_of,
    largest,
    of_arrays,
    provisos,
    reasons,
    sentence,
    table,
)
from opproof.reports._text import bound, cell, described, host, line, number, place, plural, short_names, when, whole
from opproof.reports.capabilities import markdown, matrices
from opproof.reports.causes import causes, heading

#: Sentences about the run as a whole, at most; the page has all.
_REMARKS = 20
#: Characters of a command, at most.
_COMMAND = 2000
#: Operators of a table by vector capability, at most; the page has all.
_OPERATORS = 40
_MARKS = {Kind.FAILED: "❌", Kind.HARNESS_ERROR: "❗", Kind.NO_EVIDENCE: "⚠️", Kind.PASSED: "✅"}


def render(header: Header, results: Sequence[Result], *, remarks: Sequence[str] = (), limit: int = 60_000) -> str:
    """The comment, under `limit` bytes of UTF-8 whatever the run; what was left out is counted in it.

    `remarks`: sentences about the run as a whole, the first 20 of which are in it.

    GitHub refuses comments of more than 65,536 characters.
    """
    kinds, rows = kinds_of(results), table(results)
    open_kinds = (Kind.FAILED, Kind.HARNESS_ERROR, Kind.NO_EVIDENCE)
    worst = next((k for k in open_kinds if kinds[k]), Kind.PASSED if kinds[Kind.PASSED] else Kind.FAILED)
    top = f"### {_MARKS[worst]} opproof: {cell(sentence(header, results, rows), 1500)}"
    own = provisos(results), rounding.text(results), declared.text(results)
    told = [text for text in (*own, *remarks[:_REMARKS]) if text]
    blocks = [top, *(cell(text, 1500) for text in told), *_backends(header, results)]
    blocks += _capabilities(header, results)
    room = limit - sum(_size(b) for b in blocks) - 400  # for the lines that say what was left out
    failed = failures(results)
    kept, left = _fitting(_failures(failed, sorted({r.backend for r in results})), room * 3 // 4)
    blocks += kept
    if left:
        blocks.append(f"{plural(left, 'failure')} left out here: see the HTML report or `results.jsonl`.")
    room = limit - sum(_size(b) for b in blocks) - 200
    lists = {
        "Harness errors, opproof's own fault": _reasons(results, Kind.HARNESS_ERROR),
        "Known failures": _reasons(results, Kind.KNOWN),
        "All operators": _operators(results, rows),
    }
    for title, body in lists.items():
        block = _fold(title, body)
        if body and _size(block) <= room:
            blocks.append(block)
            room -= _size(block)
        elif body:
            blocks.append(f"{title}: left out here, too long.")
    return "\n\n".join(blocks) + "\n"


def _size(block: str) -> int:
    return len(block.encode()) + 2


def _fold(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _backends(header: Header, results: Sequence[Result]) -> list[str]:
    shown = _shown(results)
    rows = ["| backend | records | " + " | ".join(LABELS[k] for k in shown) + " |"]
    rows.append("|:--|--:|" + "--:|" * len(shown))
    for backend, some in list(grouped(results, lambda r: r.backend).items())[:20]:
        kinds = kinds_of(some)
        cells = " | ".join(f"{kinds[k]:,}" for k in shown)
        rows.append(f"| {cell(described(header, backend), 120)} | {len(some):,} | {cells} |")
    where = f"opproof {header.opproof}, {when(header)}, allowed {bound(header)}; {host(header)}"
    return ["\n".join(rows)] * bool(results) + [f"<sub>{cell(where, 1000)}</sub>"]


def _capabilities(header: Header, results: Sequence[Result]) -> list[str]:
    """By vector capability, where the run has some: the operators that fail or differ, as far as there is room."""
    blocks = []
    for matrix in matrices(header, results):
        shown = matrix.told[:_OPERATORS]
        left = len(matrix.told) - len(shown)
        more = [f"… and {plural(left, 'more operator')}: see the HTML report."] * (left > 0)
        told = [cell(matrix.title), *[markdown(matrix, shown)] * bool(shown), *more, matrix.alike]
        blocks.append("\n\n".join(filter(None, told)))
    return blocks


def _shown(results: Sequence[Result]) -> list[Kind]:
    """The kinds that have a column."""
    kinds = kinds_of(results)
    return [k for k in COLUMNS if k in (Kind.PASSED, Kind.FAILED) or kinds[k]]


def _failures(failed: Sequence[Result], backends: Sequence[str]) -> list[tuple[int, str]]:
    """A folded table for each cause, of at most 25 failures, with the number of failures of the cause."""
    blocks = []
    for cause in causes(failed):
        part = cause.records[:25]
        rows = ["| case | verdict | at | expected | got | bound | units | allowed |"]
        rows.append("|:--|:--|:--|--:|--:|--:|--:|--:|")
        rows += [_row(r) for r in part]
        left = len(cause.records) - len(part)
        more = f"\n\n… and {plural(left, 'larger case')} of the same cause" * bool(left)
        body = "\n".join(rows) + more + _command(cause.smallest.repro)
        why = f": {cell(cause.explanation, 300)}" * bool(cause.explanation)
        title = cell(heading(cause, backends), 200).replace("\\_", "_")  # in HTML, where nothing takes it for emphasis
        blocks.append((len(cause.records), _fold(f"<b>{title}</b>{why}", body)))
    return blocks


def _command(repro: str) -> str:
    """The command that repeats a failure, whole: a part of it would do something else."""
    text = " ".join(visible(repro).split())
    if len(text) > _COMMAND:
        return "\n\nThe command that repeats it is in `results.jsonl`."
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"\n\n{fence}sh\n{text}\n{fence}" if text else ""


def _fitting(blocks: Sequence[tuple[int, str]], room: int) -> tuple[list[str], int]:
    """The blocks that fit into `room` bytes, and the number of failures in those that do not."""
    kept, left = [], 0
    for count, block in blocks:
        if _size(block) <= room:
            kept.append(block)
            room -= _size(block)
        else:
            left += count
    return kept, left


def _row(r: Result) -> str:
    arrays = whole(r) if share(r) <= 1 else ""
    texts = "".join(f"<br>{cell(text, 300)}" for text in (r.message, arrays, r.diagnosis) if text)
    case = f"{_code(r.case)} {cell(r.mode)}, {cell(short_names([r.backend])[r.backend], 60)}{texts}"
    size = f"{number(r.units, 3)} | {number(r.limit, 3)}"
    if r.worst is None:
        return f"| {case} | {cell(r.verdict)} | | | | | {size} |"
    w = r.worst
    at = cell(place(w.tensor, w.index), 100)
    numbers = f"{number(w.expected)} | {number(w.got)} | {number(w.bound, 3)} | {size}"
    return f"| {case} | {cell(r.verdict)} | {at} | {numbers} |"


def _reasons(results: Sequence[Result], what: Kind) -> str:
    return "\n".join(
        f"- {cell(reason, 300)} ({plural(len(some), 'record')}: {cell(', '.join(sorted({r.op for r in some})), 200)})"
        for reason, some in reasons(results, what)
    )


def _operators(results: Sequence[Result], tallied: Sequence[Row]) -> str:
    if not results:
        return ""
    shown, names = _shown(results), short_names({r.backend for r in results})
    several, failed = len(names) > 1, Kind.FAILED in kinds_of(results)
    heads = ["operator", *["backend"] * several, "records", *(LABELS[k] for k in shown), "units"]
    heads += [*["units, failing"] * failed, "RMS", "bias"]
    rows = [heads, [":--", *[":--"] * several, *["--:"] * (len(heads) - 1 - several)]]
    for row in tallied:
        counts = [str(row.tally.kinds[k]) if row.tally.kinds[k] else "" for k in shown]
        first = [cell(row.op, 80), *[cell(names[row.backend], 60)] * several, str(row.tally.records)]
        rows.append([*first, *counts, *largest(row.tally, failing=failed), *of_arrays(row.tally)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _code(text: str) -> str:
    """A code span in a table, where a pipe would end the cell whatever stands around it."""
    short = line(text)[:300].replace("|", "¦")
    ticks = "`" * (1 + max(map(len, re.findall("`+", short)), default=0))
    return f"{ticks} {short} {ticks}" if "`" in short else f"`{short}`"
