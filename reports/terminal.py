"""The summary that a run ends with, in plain text: a table of operators, the causes of failures, one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from opproof.core.text import escape_unprintable
from opproof.core.verdicts import MEANING, Verdict
from opproof.reports import declared, implementations, rounding
from opproof.reports._kinds import COLUMNS, KINDS, LABELS, ResultKind, result_kind_of, severity_of, share
from opproof.reports._record import Header, Result
from opproof.reports._summary import (
    SummaryRow,
    Tally,
    describe_provisos,
    format_largest,
    group_by_reason,
    is_beyond,
    join_tallies,
    kinds_of,
    list_failures,
    make_table,
    of_arrays,
    summarise_run,
)
from opproof.reports._text import (
    cut_text,
    describe_backend,
    describe_coverage,
    describe_host,
    describe_standard,
    describe_ulp,
    format_array_figures,
    format_count,
    format_line,
    format_units,
    number,
    place,
    short_names_of,
)
from opproof.reports.capabilities import CapabilityMatrix, make_matrices
from opproof.reports.causes import Cause, find_causes, format_heading
from opproof.reports.profiles import table as profiles

#: Columns of a terminal that the table of operators keeps to.
_MAX_COLUMNS = 100
#: Rows of the table from which on operators that pass whole are only counted.
_MAX_FULL_ROWS = 24


def format_summary(
    header: Header, results: Sequence[Result], *, folder: Path | str | None = None, limit: int | None = 8
) -> str:
    """The summary as text without a final line end.

    `folder` holds results.jsonl. `limit` causes are shown, and of operators that pass or are declined whole only how
    many there are; None shows everything.
    """
    most = len(results) if limit is None else limit
    where = "results.jsonl" if folder is None else str(folder)
    rows = make_table(results)
    count = join_tallies([row.tally for row in rows])
    parts = (
        [_format_table(results, rows) if limit is None else _format_short_table(results, rows, where)]
        if results
        else []
    )
    parts += [_format_capabilities(matrix, most, where) for matrix in make_matrices(header, results)]
    parts += _format_causes(results, most, where)
    parts += _list_some(
        [r for r in results if result_kind_of(r) is ResultKind.HARNESS_ERROR], "harness error", max(1, most // 2), where
    )
    if count.kinds[ResultKind.KNOWN]:
        parts.append(_format_known(results, most, where))
    parts += [
        _format_totals(header, results, count),
        rounding.describe_rounding(results),
        declared.describe_declared(results),
        implementations.describe_implementations(results),
    ]
    parts += [profiles.format_table(header, results, limit), profiles.describe_profile(header, results)]
    parts += [describe_provisos(results), summarise_run(header, results, rows)]
    return "\n\n".join(part for part in parts if part)


def _format_causes(results: Sequence[Result], limit: int, where: str) -> list[str]:
    """The first `limit` causes of failures, and how many there are more."""
    found, backends = find_causes(list_failures(results)), sorted({r.backend for r in results})
    left = sum(len(c.records) for c in found[limit:])
    more = f"… and {format_count(len(found) - limit, 'more cause')} of {format_count(left, 'failure')}: "
    more += f"opproof report {where} --all"
    return [*(format_cause(c, backends) for c in found[:limit]), *[more] * bool(left)]


def format_cause(cause: Cause, backends: Sequence[str] = ()) -> str:
    """One cause: what fails, why, and its smallest case."""
    rows = [format_heading(cause, backends)]
    rows += [f"  {format_line(text)}" for text in (cause.delta, cause.explanation) if text]
    return "\n".join(
        [*rows, *(f"  {row}" for row in (*_format_numbers(cause.smallest), *_format_repro(cause.smallest)))]
    )


def _list_some(results: Sequence[Result], noun: str, limit: int, where: str) -> list[str]:
    """The first `limit` records, and how many there are more."""
    left = len(results) - limit
    more = [f"… and {format_count(left, f'more {noun}')} in {where}"] if left > 0 else []
    return [*map(format_failure, results[:limit]), *more]


def _format_short_table(results: Sequence[Result], rows: Sequence[SummaryRow], where: str) -> str:
    """The table of the operators of which there is more to say than one word, and a line of the others."""
    declined = [row for row in rows if set(row.tally.kinds) == {ResultKind.UNSUPPORTED}]
    passed = [
        row for row in rows if ResultKind.PASSED in set(row.tally.kinds) <= {ResultKind.PASSED, ResultKind.UNSUPPORTED}
    ]
    passed = passed if len(rows) - len(declined) > _MAX_FULL_ROWS else []
    apart = {id(row) for row in (*declined, *passed)}
    left = [row for row in rows if id(row) not in apart]
    parts = [_format_table(results, left)] if left else []
    if passed:
        records = format_count(sum(row.tally.kinds[ResultKind.PASSED] for row in passed), "record")
        more = format_count(len(passed), "operator" if not left else "more operator")
        verb = "passes" if len(passed) == 1 else "pass"
        parts.append(f"{more} {verb}, {records}: opproof report {where} --all lists them")
    if declined:
        parts.append(_describe_declined(results, declined))
    return "\n\n".join(parts)


def _format_capabilities(matrix: CapabilityMatrix, limit: int, where: str) -> str:
    """The operators that fail or differ under a vector capability, and how many there are more."""
    most = max(limit, _MAX_FULL_ROWS)
    shown, left = matrix.told[:most], len(matrix.told) - most
    told = [f"{matrix.title}:"]
    if shown:
        told.append(_align_columns(["operator", *matrix.capabilities], [[r.op, *r.cells] for r in shown], left=1))
    if left > 0:
        told.append(f"… and {format_count(left, 'more operator')}: opproof report {where} --all")
    return "\n".join([*told, *filter(None, [matrix.alike])])


def _describe_declined(results: Sequence[Result], rows: Sequence[SummaryRow]) -> str:
    """How many operators are declined whole, and the most frequent reasons."""
    whole = {(row.op, row.backend) for row in rows}
    why: dict[str, set[str]] = {}
    left = [r for r in results if (r.op, r.backend) in whole and not is_beyond(r)]  # of those a sentence tells below
    for reason, some in group_by_reason(left, ResultKind.UNSUPPORTED):
        for r in some:
            rest = reason.replace(r.op, "…")
            why.setdefault(cut_text(rest if rest.strip("…") else "its name is all that was said", 60), set()).add(r.op)
    most = sorted(why.items(), key=lambda pair: -len(pair[1]))
    told = [f"{reason} ({_list_names(ops)})" for reason, ops in most[:3]]
    why_not = ", ".join([*told, *["…"] * (len(most) > 3)])
    return f"{format_count(len(rows), 'operator')} declined whole{': ' * bool(why_not)}{why_not}"


def _list_names(ops: Collection[str], most: int = 3) -> str:
    """The first few names, and how many there are more: batch_norm, fmod, remainder and 32 more"""
    left = len(ops) - most
    names = ", ".join(map(format_line, sorted(ops)[:most]))
    return f"{names} and {left:,} more" if left > 0 else names


def _format_table(results: Sequence[Result], rows: Sequence[SummaryRow]) -> str:
    """A row an operator; RMS and bias have columns where there is room."""
    known = any(row.tally.rms is not None for row in rows)
    kinds = kinds_of(results)
    texts = [_format_columns(results, rows, kinds, arrays) for arrays in ((2, 1, 0) if known else (0,))]
    return next((text for text in texts if max(map(len, text.splitlines())) <= _MAX_COLUMNS), texts[-1])


def _format_columns(
    results: Sequence[Result], rows: Sequence[SummaryRow], kinds: Counter[ResultKind], arrays: int
) -> str:
    """The table with so many columns of figures of whole arrays."""
    names = short_names_of({r.backend for r in results})
    shown = [k for k in COLUMNS if k in (ResultKind.PASSED, ResultKind.FAILED) or kinds[k]]
    several, failed = len(names) > 1, kinds[ResultKind.FAILED] > 0
    heads = ["operator", *["backend"] * several, "records", *(LABELS[k] for k in shown), "units"]
    heads += ["units, failing"] * failed + ["RMS", "bias"][:arrays]
    lines = [
        [
            cut_text(format_line(row.op), _MAX_COLUMNS),
            *[format_line(names[row.backend])] * several,
            str(row.tally.records),
        ]
        + [str(row.tally.kinds[k]) if row.tally.kinds[k] else "" for k in shown]
        + format_largest(row.tally, failing=failed)
        + of_arrays(row.tally)[:arrays]
        for row in rows
    ]
    return _align_columns(heads, lines, left=1 + several)


def _align_columns(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> str:
    """Columns as wide as they must be, of which the first `left` are texts and the others numbers."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [heads, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            text.ljust(width) if place < left else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def format_failure(result: Result) -> str:
    """One failure: what failed, the worst element, what happened and why, the command that repeats it."""
    head = f"{result.verdict}  {format_line(result.case)}  {result.mode}  {format_line(result.backend)}"
    told = [format_line(text) for text in (result.message, result.diagnosis) if text]
    rows = [format_line(result.delta)] * bool(result.delta)
    return "\n".join([head, *(f"  {row}" for row in (*rows, *_format_numbers(result), *told, *_format_repro(result)))])


def _format_numbers(result: Result) -> list[str]:
    """The worst element, the figures of the array where they are what fails, else what the verdict means."""
    rows = []
    if result.worst is not None:
        w = result.worst
        rows.append(
            f"{place(w.tensor, w.index)}: got {number(w.got)}, expected {number(w.expected)},"
            f" bound {number(w.bound, 3)}, {format_units(result)}"
        )
    if share(result) <= 1 and (text := format_array_figures(result)):
        rows.append(text)
    if ulp := describe_ulp(result):
        rows.append(f"ULP: {ulp}")
    if standard := describe_standard(result):
        rows.append(f"by the standard: {standard}")
    if not result.message and not result.diagnosis and result.worst is None:
        rows.append(MEANING.get(result.verdict, "a verdict of another version of opproof"))
    return rows


def _format_repro(result: Result) -> list[str]:
    return [escape_unprintable(result.repro)] if result.repro else []


def _format_known(results: Sequence[Result], limit: int, where: str) -> str:
    """Why failures are known, a line a reason."""
    most = group_by_reason(results, ResultKind.KNOWN)
    count = sum(len(some) for _, some in most)
    rows = [f"  {len(some):>5,}  {cut_text(reason, _MAX_COLUMNS - 9)}" for reason, some in most[:limit]]
    left = len(most) - limit
    others = sum(len(some) for _, some in most[limit:])
    more = f"  {others:>5,}  of {format_count(left, 'more reason')}: opproof report {where} --all"
    return "\n".join([f"{format_count(count, 'known failure')}:", *rows, *[more] * (left > 0)])


def _format_totals(header: Header, results: Sequence[Result], count: Tally) -> str:
    if not results:
        return ""
    kinds = [f"{count.kinds[k]:,} {LABELS[k]}" for k in reversed(KINDS) if count.kinds[k]]
    quiet = (Verdict.PASS, Verdict.UNSUPPORTED)
    bad = [f"{verdict} {n}" for verdict, n in count.verdicts.most_common() if verdict not in quiet]
    slowest = max(results, key=lambda r: severity_of(r.seconds))
    text = f"{format_count(count.records, 'record')}: {', '.join(kinds)}"
    if bad:
        text += f"\n{', '.join(bad)}"
    judged = "" if slowest.judging is None else f", the reference and judging {number(slowest.judging, 2)} s"
    if covered := describe_coverage(header):
        text += f"\ncovered: {covered}"
    case = cut_text(format_line(slowest.case), 2 * _MAX_COLUMNS)
    text += f"\nslowest: {case} {slowest.mode}, {number(slowest.seconds, 2)} s{judged}"
    return f"{text}\n{_describe_surroundings(header, results)}"


def _describe_surroundings(header: Header, results: Sequence[Result]) -> str:
    """What ran where: opproof 0.9, torch 2.13.0 cpu; system Linux 6.1, processor AMD EPYC, vectors fma avx2, cores 2"""
    libraries = [describe_backend(header, backend) for backend in sorted({r.backend for r in results})]
    what = ", ".join([f"opproof {format_line(header.opproof)}", *libraries])
    return f"{what}; {describe_host(header)}" if header.host else what
