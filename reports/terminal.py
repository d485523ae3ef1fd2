"""The summary that a run ends with, in plain text: a table of operators, each failure, one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opproof.reports import rounding
from opproof.reports._kinds import COLUMNS, KINDS, LABELS, Kind, kind, severity
from opproof.reports._record import Header, Result
from opproof.reports._summary import failures, reach, reasons, sentence, table, tally
from opproof.reports._text import line, number, place, plural, short_names
from opproof.vocabulary.text import visible
from opproof.vocabulary.verdicts import MEANING, Verdict


def summary(header: Header, results: Sequence[Result], *, folder: Path | str | None = None, limit: int = 20) -> str:
    """The summary as text without a final line end. `folder` holds results.jsonl; `limit` failures are shown."""
    where = "results.jsonl" if folder is None else str(folder)
    parts = [_table(results)] if results else []
    parts += _some(failures(results), "failure", limit, where)
    parts += _some([r for r in results if kind(r) is Kind.HARNESS_ERROR], "harness error", max(1, limit // 4), where)
    known = tally(results).kinds[Kind.KNOWN]
    if known:
        parts.append(f"{plural(known, 'known failure')}: {_reasons(results)}")
    parts += [_totals(results), rounding.text(results), reach(results), sentence(header, results)]
    return "\n\n".join(part for part in parts if part)


def _some(results: Sequence[Result], noun: str, limit: int, where: str) -> list[str]:
    """The first `limit` records, and how many there are more."""
    left = len(results) - limit
    more = [f"… and {plural(left, f'more {noun}')} in {where}"] if left > 0 else []
    return [*map(failure, results[:limit]), *more]


def _table(results: Sequence[Result]) -> str:
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    count = tally(results)
    names = short_names({r.backend for r in results})
    shown = [k for k in COLUMNS if k in (Kind.PASSED, Kind.FAILED) or count.kinds[k]]
    several, failed = len(names) > 1, count.kinds[Kind.FAILED] > 0
    heads = ["operator", *["backend"] * several, "records", *(LABELS[k] for k in shown), "units"]
    heads += ["units, failing"] * failed
    rows = []
    for row in table(results):
        units = [row.tally.passing, *[row.tally.failing] * failed]
        rows.append(
            [line(row.op), *[line(names[row.backend])] * several, str(row.tally.records)]
            + [str(row.tally.kinds[k]) if row.tally.kinds[k] else "" for k in shown]
            + ["" if u is None else number(u, 2) for u in units]
        )
    align = ["left"] * (1 + several) + ["right"] * (len(heads) - 1 - several)
    return str(tabulate(rows, heads, tablefmt="simple", colalign=align, disable_numparse=True))


def failure(result: Result) -> str:
    """One failure: what failed, the worst element, what happened and why, the command that repeats it."""
    rows = [f"{result.verdict}  {line(result.case)}  {result.mode}  {line(result.backend)}"]
    if result.worst is not None:
        w = result.worst
        rows.append(
            f"  {place(w.tensor, w.index)}: got {number(w.got)}, expected {number(w.expected)},"
            f" bound {number(w.bound, 3)}, {number(result.units, 3)} units"
        )
    rows += [f"  {line(text)}" for text in (result.message, result.diagnosis) if text]
    if not result.message and not result.diagnosis and result.worst is None:
        rows.append(f"  {MEANING.get(result.verdict, 'a verdict of another version of opproof')}")
    if result.repro:
        rows.append(f"  {visible(result.repro)}")
    return "\n".join(rows)


def _reasons(results: Sequence[Result]) -> str:
    most = reasons(results, Kind.KNOWN)
    text = "; ".join(f"{reason} ({len(some)})" for reason, some in most[:5])
    return f"{text}; …" if len(most) > 5 else text


def _totals(results: Sequence[Result]) -> str:
    if not results:
        return ""
    count = tally(results)
    kinds = [f"{count.kinds[k]:,} {LABELS[k]}" for k in reversed(KINDS) if count.kinds[k]]
    quiet = (Verdict.PASS, Verdict.UNSUPPORTED)
    bad = [f"{verdict} {n}" for verdict, n in count.verdicts.most_common() if verdict not in quiet]
    slowest = max(results, key=lambda r: severity(r.seconds))
    text = f"{plural(count.records, 'record')}: {', '.join(kinds)}"
    if bad:
        text += f"\n{', '.join(bad)}"
    return f"{text}\nslowest: {line(slowest.case)} {slowest.mode}, {slowest.seconds:.2g} s"
