"""The summary that a run ends with, in plain text: a table of operators, each failure, one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opproof.reports._record import Header, Result
from opproof.reports._summary import KINDS, failures, grouped, kind, sentence, severity, tally
from opproof.reports._text import line, number, plain, plural, short_names
from opproof.vocabulary.verdicts import MEANING

_COLUMNS = {
    "passed": "pass",
    "failed": "fail",
    "known": "known",
    "doubtful": "no evidence",
    "unsupported": "unsupported",
}


def summary(header: Header, results: Sequence[Result], *, folder: Path | str | None = None, limit: int = 20) -> str:
    """The summary as text without a final line end. `folder` holds results.jsonl; `limit` failures are shown."""
    parts = [_table(results)] if results else []
    failed = failures(results)
    parts += [failure(r) for r in failed[:limit]]
    if len(failed) > limit:
        where = f" in {folder}" if folder is not None else " in results.jsonl"
        parts.append(f"… and {plural(len(failed) - limit, 'more failure')}{where}")
    known = tally(results).kinds["known"]
    if known:
        parts.append(f"{plural(known, 'known failure')}: {_reasons(results)}")
    parts.append(_totals(results))
    parts.append(sentence(header, results))
    return "\n\n".join(part for part in parts if part)


def _table(results: Sequence[Result]) -> str:
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    count = tally(results)
    names = short_names({r.backend for r in results})
    shown = [k for k in _COLUMNS if k in ("passed", "failed") or count.kinds[k]]
    several, failed = len(names) > 1, count.kinds["failed"] > 0
    heads = ["operator", *["backend"] * several, "records", *(_COLUMNS[k] for k in shown), "units"]
    heads += ["units, failing"] * failed
    rows = []
    for group in grouped(results, lambda r: f"{r.op}\0{r.backend}").values():
        kinds = tally(group).kinds
        # Two numbers, because the largest error of a broken operator says nothing of what still passes.
        units = [tally(r for r in group if kind(r) == which).units for which in ["passed", *["failed"] * failed]]
        rows.append(
            [line(group[0].op), *[line(names[group[0].backend])] * several, str(len(group))]
            + [str(kinds[k]) if kinds[k] else "" for k in shown]
            + ["" if u is None else number(u, 2) for u in units]
        )
    align = ["left"] * (1 + several) + ["right"] * (len(heads) - 1 - several)
    return str(tabulate(rows, heads, tablefmt="simple", colalign=align, disable_numparse=True))


def failure(result: Result) -> str:
    """One failure: what failed, the worst element, what happened and why, the command that repeats it."""
    rows = [f"{result.verdict}  {line(result.case)}  {result.mode}  {line(result.backend)}"]
    if result.worst is not None:
        w = result.worst
        at = f"{w.tensor}[{', '.join(map(str, w.index))}]"
        rows.append(
            f"  {at}: got {number(w.got)}, expected {number(w.expected)}, bound {number(w.bound, 3)},"
            f" {number(result.units, 3)} units"
        )
    rows += [f"  {line(text)}" for text in (result.message, result.diagnosis) if text]
    if not result.message and not result.diagnosis and result.worst is None:
        rows.append(f"  {MEANING.get(result.verdict, 'a verdict of another version of opproof')}")
    if result.repro:
        rows.append(f"  {plain(result.repro)}")
    return "\n".join(rows)


def _reasons(results: Sequence[Result]) -> str:
    reasons = grouped((r for r in results if r.known), lambda r: line(r.known))
    most = sorted(reasons.items(), key=lambda pair: -len(pair[1]))
    text = "; ".join(f"{reason} ({len(some)})" for reason, some in most[:5])
    return f"{text}; …" if len(most) > 5 else text


def _totals(results: Sequence[Result]) -> str:
    if not results:
        return ""
    count = tally(results)
    kinds = [f"{count.kinds[k]:,} {_COLUMNS[k]}" for k in reversed(KINDS) if count.kinds[k]]
    bad = [f"{verdict} {n}" for verdict, n in count.verdicts.most_common() if verdict not in ("PASS", "UNSUPPORTED")]
    slowest = max(results, key=lambda r: severity(r.seconds))
    text = f"{plural(count.records, 'record')}: {', '.join(kinds)}"
    if bad:
        text += f"\n{', '.join(bad)}"
    return f"{text}\nslowest: {line(slowest.case)} {slowest.mode}, {slowest.seconds:.2g} s"
