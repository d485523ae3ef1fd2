"""The summary that a run ends with, in plain text: a table of operators, the causes of failures, one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from opproof.core.text import visible
from opproof.core.verdicts import MEANING, Verdict
from opproof.reports import declared, rounding
from opproof.reports._kinds import COLUMNS, KINDS, LABELS, Kind, kind, severity, share
from opproof.reports._record import Header, Result
from opproof.reports._summary import (
    Row,
    Tally,
    failures,
    is_beyond,
    joined,
    kinds_of,
    largest,
    of_arrays,
    provisos,
    reasons,
    sentence,
    table,
)
from opproof.reports._text import described, host, line, number, place, plural, short_names, units, whole
from opproof.reports.capabilities import CapabilityMatrix, matrices
from opproof.reports.causes import Cause, causes, heading

#: Columns of a terminal that the table of operators keeps to.
_WIDTH = 100
#: Rows of the table from which on operators that pass whole are only counted.
_ROWS = 24


def summary(
    header: Header, results: Sequence[Result], *, folder: Path | str | None = None, limit: int | None = 8
) -> str:
    """The summary as text without a final line end.

    `folder` holds results.jsonl. `limit` causes are shown, and of operators that pass or are declined whole only how
    many there are; None shows everything.
    """
    most = len(results) if limit is None else limit
    where = "results.jsonl" if folder is None else str(folder)
    rows = table(results)
    count = joined([row.tally for row in rows])
    parts = [_table(results, rows) if limit is None else _short_table(results, rows, where)] if results else []
    parts += [_capabilities(matrix, most, where) for matrix in matrices(header, results)]
    parts += _causes(results, most, where)
    parts += _some([r for r in results if kind(r) is Kind.HARNESS_ERROR], "harness error", max(1, most // 2), where)
    if count.kinds[Kind.KNOWN]:
        parts.append(_known(results, most, where))
    parts += [_totals(header, results, count), rounding.text(results), declared.text(results)]
    parts += [provisos(results), sentence(header, results, rows)]
    return "\n\n".join(part for part in parts if part)


def _causes(results: Sequence[Result], limit: int, where: str) -> list[str]:
    """The first `limit` causes of failures, and how many there are more."""
    found, backends = causes(failures(results)), sorted({r.backend for r in results})
    left = sum(len(c.records) for c in found[limit:])
    more = (
        f"… and {plural(len(found) - limit, 'more cause')} of {plural(left, 'failure')}: opproof report {where} --all"
    )
    return [*(told(c, backends) for c in found[:limit]), *[more] * bool(left)]


def told(cause: Cause, backends: Sequence[str] = ()) -> str:
    """One cause: what fails, why, and its smallest case."""
    rows = [heading(cause, backends)]
    if cause.explanation:
        rows.append(f"  {line(cause.explanation)}")
    return "\n".join([*rows, *(f"  {row}" for row in (*_numbers(cause.smallest), *_repro(cause.smallest)))])


def _some(results: Sequence[Result], noun: str, limit: int, where: str) -> list[str]:
    """The first `limit` records, and how many there are more."""
    left = len(results) - limit
    more = [f"… and {plural(left, f'more {noun}')} in {where}"] if left > 0 else []
    return [*map(failure, results[:limit]), *more]


def _short_table(results: Sequence[Result], rows: Sequence[Row], where: str) -> str:
    """The table of the operators of which there is more to say than one word, and a line of the others."""
    declined = [row for row in rows if set(row.tally.kinds) == {Kind.UNSUPPORTED}]
    passed = [row for row in rows if Kind.PASSED in set(row.tally.kinds) <= {Kind.PASSED, Kind.UNSUPPORTED}]
    passed = passed if len(rows) - len(declined) > _ROWS else []
    apart = {id(row) for row in (*declined, *passed)}
    left = [row for row in rows if id(row) not in apart]
    parts = [_table(results, left)] if left else []
    if passed:
        records = plural(sum(row.tally.kinds[Kind.PASSED] for row in passed), "record")
        more = plural(len(passed), "operator" if not left else "more operator")
        verb = "passes" if len(passed) == 1 else "pass"
        parts.append(f"{more} {verb}, {records}: opproof report {where} --all lists them")
    if declined:
        parts.append(_declined(results, declined))
    return "\n\n".join(parts)


def _capabilities(matrix: CapabilityMatrix, limit: int, where: str) -> str:
    """The operators that fail or differ under a vector capability, and how many there are more."""
    most = max(limit, _ROWS)
    shown, left = matrix.told[:most], len(matrix.told) - most
    told = [f"{matrix.title}:"]
    if shown:
        told.append(_aligned(["operator", *matrix.capabilities], [[r.op, *r.cells] for r in shown], left=1))
    if left > 0:
        told.append(f"… and {plural(left, 'more operator')}: opproof report {where} --all")
    return "\n".join([*told, *filter(None, [matrix.alike])])


def _declined(results: Sequence[Result], rows: Sequence[Row]) -> str:
    """How many operators are declined whole, and the most frequent reasons."""
    whole = {(row.op, row.backend) for row in rows}
    why: dict[str, set[str]] = {}
    left = [r for r in results if (r.op, r.backend) in whole and not is_beyond(r)]  # of those a sentence tells below
    for reason, some in reasons(left, Kind.UNSUPPORTED):
        for r in some:
            rest = reason.replace(r.op, "…")
            why.setdefault(_short(rest if rest.strip("…") else "its name is all that was said", 60), set()).add(r.op)
    most = sorted(why.items(), key=lambda pair: -len(pair[1]))
    told = [f"{reason} ({_named(ops)})" for reason, ops in most[:3]]
    why_not = ", ".join([*told, *["…"] * (len(most) > 3)])
    return f"{plural(len(rows), 'operator')} declined whole{': ' * bool(why_not)}{why_not}"


def _named(ops: Collection[str], most: int = 3) -> str:
    """The first few names, and how many there are more: batch_norm, fmod, remainder and 32 more"""
    left = len(ops) - most
    names = ", ".join(map(line, sorted(ops)[:most]))
    return f"{names} and {left:,} more" if left > 0 else names


def _table(results: Sequence[Result], rows: Sequence[Row]) -> str:
    """A row an operator; RMS and bias have columns where there is room."""
    known = any(row.tally.rms is not None for row in rows)
    kinds = kinds_of(results)
    texts = [_tabulated(results, rows, kinds, arrays) for arrays in ((2, 1, 0) if known else (0,))]
    return next((text for text in texts if max(map(len, text.splitlines())) <= _WIDTH), texts[-1])


def _tabulated(results: Sequence[Result], rows: Sequence[Row], kinds: Counter[Kind], arrays: int) -> str:
    """The table with so many columns of figures of whole arrays."""
    names = short_names({r.backend for r in results})
    shown = [k for k in COLUMNS if k in (Kind.PASSED, Kind.FAILED) or kinds[k]]
    several, failed = len(names) > 1, kinds[Kind.FAILED] > 0
    heads = ["operator", *["backend"] * several, "records", *(LABELS[k] for k in shown), "units"]
    heads += ["units, failing"] * failed + ["RMS", "bias"][:arrays]
    lines = [
        [line(row.op), *[line(names[row.backend])] * several, str(row.tally.records)]
        + [str(row.tally.kinds[k]) if row.tally.kinds[k] else "" for k in shown]
        + largest(row.tally, failing=failed)
        + of_arrays(row.tally)[:arrays]
        for row in rows
    ]
    return _aligned(heads, lines, left=1 + several)


def _aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> str:
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


def failure(result: Result) -> str:
    """One failure: what failed, the worst element, what happened and why, the command that repeats it."""
    head = f"{result.verdict}  {line(result.case)}  {result.mode}  {line(result.backend)}"
    told = [line(text) for text in (result.message, result.diagnosis) if text]
    return "\n".join([head, *(f"  {row}" for row in (*_numbers(result), *told, *_repro(result)))])


def _numbers(result: Result) -> list[str]:
    """The worst element, the figures of the array where they are what fails, else what the verdict means."""
    rows = []
    if result.worst is not None:
        w = result.worst
        rows.append(
            f"{place(w.tensor, w.index)}: got {number(w.got)}, expected {number(w.expected)},"
            f" bound {number(w.bound, 3)}, {units(result)}"
        )
    if share(result) <= 1 and (text := whole(result)):
        rows.append(text)
    if not result.message and not result.diagnosis and result.worst is None:
        rows.append(MEANING.get(result.verdict, "a verdict of another version of opproof"))
    return rows


def _repro(result: Result) -> list[str]:
    return [visible(result.repro)] if result.repro else []


def _known(results: Sequence[Result], limit: int, where: str) -> str:
    """Why failures are known, a line a reason."""
    most = reasons(results, Kind.KNOWN)
    count = sum(len(some) for _, some in most)
    rows = [f"  {len(some):>5,}  {_short(reason, _WIDTH - 9)}" for reason, some in most[:limit]]
    left = len(most) - limit
    others = sum(len(some) for _, some in most[limit:])
    more = f"  {others:>5,}  of {plural(left, 'more reason')}: opproof report {where} --all"
    return "\n".join([f"{plural(count, 'known failure')}:", *rows, *[more] * (left > 0)])


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _totals(header: Header, results: Sequence[Result], count: Tally) -> str:
    if not results:
        return ""
    kinds = [f"{count.kinds[k]:,} {LABELS[k]}" for k in reversed(KINDS) if count.kinds[k]]
    quiet = (Verdict.PASS, Verdict.UNSUPPORTED)
    bad = [f"{verdict} {n}" for verdict, n in count.verdicts.most_common() if verdict not in quiet]
    slowest = max(results, key=lambda r: severity(r.seconds))
    text = f"{plural(count.records, 'record')}: {', '.join(kinds)}"
    if bad:
        text += f"\n{', '.join(bad)}"
    judged = "" if slowest.judging is None else f", the reference and judging {number(slowest.judging, 2)} s"
    text += f"\nslowest: {line(slowest.case)} {slowest.mode}, {number(slowest.seconds, 2)} s{judged}"
    return f"{text}\n{_surroundings(header, results)}"


def _surroundings(header: Header, results: Sequence[Result]) -> str:
    """What ran where: opproof 0.9, torch 2.13.0 cpu; system Linux 6.1, processor AMD EPYC, vectors fma avx2, cores 2"""
    libraries = [described(header, backend) for backend in sorted({r.backend for r in results})]
    what = ", ".join([f"opproof {line(header.opproof)}", *libraries])
    return f"{what}; {host(header)}" if header.host else what
