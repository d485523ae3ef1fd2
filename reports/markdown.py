"""Markdown for a pull-request comment: the sentence, a table, the failures folded by cause."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opproof.core.text import escape_unprintable
from opproof.reports import declared, implementations, rounding
from opproof.reports._kinds import COLUMNS, LABELS, ResultKind, share
from opproof.reports._record import Header, Result
from opproof.reports._summary import (
    SummaryRow,
    describe_provisos,
    format_largest,
    group_by_reason,
    group_results,
    kinds_of,
    list_failures,
    make_table,
    of_arrays,
    summarise_run,
)
from opproof.reports._text import (
    bound,
    describe_backend,
    describe_coverage,
    describe_host,
    describe_standard,
    describe_ulp,
    escape_cell,
    format_array_figures,
    format_count,
    format_line,
    format_start,
    number,
    place,
    short_names_of,
)
from opproof.reports.capabilities import format_matrix, make_matrices
from opproof.reports.causes import find_causes, format_heading
from opproof.reports.profiles import table as profiles

#: Sentences about the run as a whole, at most; the page has all.
_MAX_REMARKS = 20
#: Characters of a command, at most.
_MAX_COMMAND_CHARACTERS = 2000
#: Operators of a table by vector capability, at most; the page has all.
_MAX_OPERATORS = 40
_MARKS = {ResultKind.FAILED: "❌", ResultKind.HARNESS_ERROR: "❗", ResultKind.NO_EVIDENCE: "⚠️", ResultKind.PASSED: "✅"}


def render(header: Header, results: Sequence[Result], *, remarks: Sequence[str] = (), limit: int = 60_000) -> str:
    """The comment, under `limit` bytes of UTF-8 whatever the run; what was left out is counted in it.

    `remarks`: sentences about the run as a whole, the first 20 of which are in it.

    GitHub refuses comments of more than 65,536 characters.
    """
    kinds, rows = kinds_of(results), make_table(results)
    open_kinds = (ResultKind.FAILED, ResultKind.HARNESS_ERROR, ResultKind.NO_EVIDENCE)
    worst = next(
        (k for k in open_kinds if kinds[k]), ResultKind.PASSED if kinds[ResultKind.PASSED] else ResultKind.FAILED
    )
    top = f"### {_MARKS[worst]} opproof: {escape_cell(summarise_run(header, results, rows), 1500)}"
    own = describe_provisos(results), rounding.describe_rounding(results), declared.describe_declared(results)
    computed, standard = implementations.describe_implementations(results), profiles.describe_profile(header, results)
    told = [text for text in (standard, *own, computed, *remarks[:_MAX_REMARKS]) if text]
    blocks = [top, *(escape_cell(text, 1500) for text in told), *_format_backends(header, results)]
    blocks += _format_capabilities(header, results)
    room = limit - sum(_measure_size(b) for b in blocks) - 400  # for the lines that say what was left out
    failed = list_failures(results)
    kept, left = _select_fitting(_format_failures(failed, sorted({r.backend for r in results})), room * 3 // 4)
    blocks += kept
    if left:
        blocks.append(f"{format_count(left, 'failure')} left out here: see the HTML report or `results.jsonl`.")
    room = limit - sum(_measure_size(b) for b in blocks) - 200
    lists = {
        "Harness errors, opproof's own fault": _format_reasons(results, ResultKind.HARNESS_ERROR),
        "Known failures": _format_reasons(results, ResultKind.KNOWN),
        "Ours and the standard's": profiles.format_markdown(header, results),
        "All operators": _format_operators(results, rows),
    }
    for title, body in lists.items():
        block = _fold(title, body)
        if body and _measure_size(block) <= room:
            blocks.append(block)
            room -= _measure_size(block)
        elif body:
            blocks.append(f"{title}: left out here, too long.")
    return "\n\n".join(blocks) + "\n"


def _measure_size(block: str) -> int:
    return len(block.encode()) + 2


def _fold(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _format_backends(header: Header, results: Sequence[Result]) -> list[str]:
    shown = _select_shown(results)
    rows = ["| backend | records | " + " | ".join(LABELS[k] for k in shown) + " |"]
    rows.append("|:--|--:|" + "--:|" * len(shown))
    for backend, some in list(group_results(results, lambda r: r.backend).items())[:20]:
        kinds = kinds_of(some)
        cells = " | ".join(f"{kinds[k]:,}" for k in shown)
        rows.append(f"| {escape_cell(describe_backend(header, backend), 120)} | {len(some):,} | {cells} |")
    where = f"opproof {header.opproof}, {format_start(header)}, allowed {bound(header)}; {describe_host(header)}"
    if covered := describe_coverage(header):
        where = f"{covered}; {where}"
    return ["\n".join(rows)] * bool(results) + [f"<sub>{escape_cell(where, 1000)}</sub>"]


def _format_capabilities(header: Header, results: Sequence[Result]) -> list[str]:
    """By vector capability, where the run has some: the operators that fail or differ, as far as there is room."""
    blocks = []
    for matrix in make_matrices(header, results):
        shown = matrix.told[:_MAX_OPERATORS]
        left = len(matrix.told) - len(shown)
        more = [f"… and {format_count(left, 'more operator')}: see the HTML report."] * (left > 0)
        told = [escape_cell(matrix.title), *[format_matrix(matrix, shown)] * bool(shown), *more, matrix.alike]
        blocks.append("\n\n".join(filter(None, told)))
    return blocks


def _select_shown(results: Sequence[Result]) -> list[ResultKind]:
    """The kinds that have a column."""
    kinds = kinds_of(results)
    return [k for k in COLUMNS if k in (ResultKind.PASSED, ResultKind.FAILED) or kinds[k]]


def _format_failures(failed: Sequence[Result], backends: Sequence[str]) -> list[tuple[int, str]]:
    """A folded table for each cause, of at most 25 failures, with the number of failures of the cause."""
    blocks = []
    for cause in find_causes(failed):
        part = cause.records[:25]
        rows = ["| case | verdict | at | expected | got | bound | units | allowed | ULP |"]
        rows.append("|:--|:--|:--|--:|--:|--:|--:|--:|--:|")
        rows += [_format_row(r) for r in part]
        left = len(cause.records) - len(part)
        more = f"\n\n… and {format_count(left, 'larger case')} of the same cause" * bool(left)
        body = "\n".join(rows) + more + _format_command(cause.smallest.repro)
        why = f": {escape_cell(cause.why, 300)}" * bool(cause.why)
        title = escape_cell(format_heading(cause, backends), 200).replace(
            "\\_", "_"
        )  # in HTML, where nothing takes it for emphasis
        blocks.append((len(cause.records), _fold(f"<b>{title}</b>{why}", body)))
    return blocks


def _format_command(repro: str) -> str:
    """The command that repeats a failure, whole: a part of it would do something else."""
    text = " ".join(escape_unprintable(repro).split())
    if len(text) > _MAX_COMMAND_CHARACTERS:
        return "\n\nThe command that repeats it is in `results.jsonl`."
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"\n\n{fence}sh\n{text}\n{fence}" if text else ""


def _select_fitting(blocks: Sequence[tuple[int, str]], room: int) -> tuple[list[str], int]:
    """The blocks that fit into `room` bytes, and the number of failures in those that do not."""
    kept, left = [], 0
    for count, block in blocks:
        if _measure_size(block) <= room:
            kept.append(block)
            room -= _measure_size(block)
        else:
            left += count
    return kept, left


def _format_row(r: Result) -> str:
    arrays = format_array_figures(r) if share(r) <= 1 else ""
    standard = f"by the standard: {text}" if (text := describe_standard(r)) else ""
    texts = "".join(f"<br>{escape_cell(text, 300)}" for text in (r.message, arrays, r.diagnosis, standard) if text)
    backend = escape_cell(short_names_of([r.backend])[r.backend], 60)
    case = f"{_format_code(r.case)} {escape_cell(r.mode)}, {backend}{texts}"
    size = f"{number(r.units, 3)} | {number(r.limit, 3)} | {escape_cell(describe_ulp(r), 100)}"
    if r.worst is None:
        return f"| {case} | {escape_cell(r.verdict)} | | | | | {size} |"
    w = r.worst
    at = escape_cell(place(w.tensor, w.index), 100)
    numbers = f"{number(w.expected)} | {number(w.got)} | {number(w.bound, 3)} | {size}"
    return f"| {case} | {escape_cell(r.verdict)} | {at} | {numbers} |"


def _format_reasons(results: Sequence[Result], what: ResultKind) -> str:
    return "\n".join(
        f"- {escape_cell(reason, 300)} ({format_count(len(some), 'record')}: "
        f"{escape_cell(', '.join(sorted({r.op for r in some})), 200)})"
        for reason, some in group_by_reason(results, what)
    )


def _format_operators(results: Sequence[Result], tallied: Sequence[SummaryRow]) -> str:
    if not results:
        return ""
    shown, names = _select_shown(results), short_names_of({r.backend for r in results})
    several, failed = len(names) > 1, ResultKind.FAILED in kinds_of(results)
    heads = ["operator", *["backend"] * several, "records", *(LABELS[k] for k in shown), "units"]
    heads += [*["units, failing"] * failed, "RMS", "bias"]
    rows = [heads, [":--", *[":--"] * several, *["--:"] * (len(heads) - 1 - several)]]
    for row in tallied:
        counts = [str(row.tally.kinds[k]) if row.tally.kinds[k] else "" for k in shown]
        first = [escape_cell(row.op, 80), *[escape_cell(names[row.backend], 60)] * several, str(row.tally.records)]
        rows.append([*first, *counts, *format_largest(row.tally, failing=failed), *of_arrays(row.tally)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _format_code(text: str) -> str:
    """A code span in a table, where a pipe would end the cell whatever stands around it."""
    short = format_line(text)[:300].replace("|", "¦")
    ticks = "`" * (1 + max(map(len, re.findall("`+", short)), default=0))
    return f"{ticks} {short} {ticks}" if "`" in short else f"`{short}`"
