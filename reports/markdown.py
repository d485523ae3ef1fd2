"""Markdown for a pull-request comment: the sentence, a table, the failures folded by operator."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opproof.reports._record import Header, Result
from opproof.reports._summary import KINDS, failures, grouped, kind, sentence, tally
from opproof.reports._text import described, line, number, plural, short_names, when

_HEADS = {"failed": "fail", "known": "known", "doubtful": "no evidence", "unsupported": "unsupported", "passed": "pass"}
_MARKS = {"failed": "❌", "doubtful": "⚠️", "passed": "✅"}


def render(header: Header, results: Sequence[Result], *, limit: int = 60_000) -> str:
    """The comment, under `limit` bytes of UTF-8 whatever the run; what was left out is counted in it.

    GitHub refuses comments of more than 65,536 characters.
    """
    count = tally(results)
    worst = next((k for k in ("failed", "doubtful") if count.kinds[k]), "passed" if count.kinds["passed"] else "failed")
    top = f"### {_MARKS[worst]} opproof: {_cell(sentence(header, results), 1500)}"
    blocks = [top, *_backends(header, results)]
    room = limit - sum(_size(b) for b in blocks) - 400  # for the lines that say what was left out
    failed = failures(results)
    kept, left = _fitting(_failures(failed), room * 3 // 4)
    blocks += kept
    if left:
        blocks.append(f"{plural(left, 'failure')} left out here: see the HTML report or `results.jsonl`.")
    room = limit - sum(_size(b) for b in blocks) - 200
    for title, table in (("Known failures", _known(results)), ("All operators", _operators(results))):
        block = _fold(title, table)
        if table and _size(block) <= room:
            blocks.append(block)
            room -= _size(block)
        elif table:
            blocks.append(f"{title}: left out here, too long.")
    return "\n\n".join(blocks) + "\n"


def _size(block: str) -> int:
    return len(block.encode()) + 2


def _fold(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _backends(header: Header, results: Sequence[Result]) -> list[str]:
    shown = [k for k in reversed(KINDS) if k in ("passed", "failed") or tally(results).kinds[k]]
    rows = ["| backend | records | " + " | ".join(_HEADS[k] for k in shown) + " |"]
    rows.append("|:--|--:|" + "--:|" * len(shown))
    for backend, some in list(grouped(results, lambda r: r.backend).items())[:20]:
        kinds = tally(some).kinds
        cells = " | ".join(f"{kinds[k]:,}" for k in shown)
        rows.append(f"| {_cell(described(header, backend), 120)} | {len(some):,} | {cells} |")
    host = ", ".join(f"{k} {v}" for k, v in header.host.items())
    where = f"opproof {header.opproof}, {when(header)}, constant C = {number(header.constant, 3)}; {host}"
    return ["\n".join(rows)] * bool(results) + [f"<sub>{_cell(where, 500)}</sub>"]


def _failures(failed: Sequence[Result]) -> list[tuple[int, str]]:
    """Folded tables of at most 25 failures each, with the number of failures in each."""
    found = []
    for op, some in grouped(failed, lambda r: r.op).items():
        for start in range(0, len(some), 25):
            part = some[start : start + 25]
            rows = ["| case | verdict | at | expected | got | bound | units |", "|:--|:--|:--|--:|--:|--:|--:|"]
            rows += [_row(r) for r in part]
            repro = "\n".join(line(r.repro)[:400] for r in part if r.repro)
            body = "\n".join(rows) + (f"\n\n```sh\n{repro.replace('```', '')}\n```" if repro else "")
            span = "" if len(some) <= 25 else f", {start + 1} to {start + len(part)}"
            found.append((len(part), _fold(f"<b>{_cell(op, 80)}</b>: {plural(len(some), 'failure')}{span}", body)))
    return found


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
    texts = "".join(f"<br>{_cell(text, 300)}" for text in (r.message, r.diagnosis) if text)
    case = f"{_code(r.case)} {_cell(r.mode)}, {_cell(short_names([r.backend])[r.backend], 60)}{texts}"
    if r.worst is None:
        return f"| {case} | {_cell(r.verdict)} | | | | | {number(r.units, 3)} |"
    w = r.worst
    at = f"{_cell(w.tensor, 60)}[{', '.join(map(str, w.index))}]"
    numbers = f"{number(w.expected)} | {number(w.got)} | {number(w.bound, 3)} | {number(r.units, 3)}"
    return f"| {case} | {_cell(r.verdict)} | {at} | {numbers} |"


def _known(results: Sequence[Result]) -> str:
    reasons = grouped((r for r in results if kind(r) == "known"), lambda r: line(r.known))
    return "\n".join(
        f"- {_cell(reason, 300)} ({plural(len(some), 'record')}: {_cell(', '.join(sorted({r.op for r in some})), 200)})"
        for reason, some in reasons.items()
    )


def _operators(results: Sequence[Result]) -> str:
    shown = [k for k in reversed(KINDS) if k in ("passed", "failed") or tally(results).kinds[k]]
    rows = ["| operator | records | " + " | ".join(_HEADS[k] for k in shown) + " | worst units |"]
    rows.append("|:--|--:|" + "--:|" * (len(shown) + 1))
    for op, some in grouped(results, lambda r: r.op).items():
        count = tally(some)
        cells = " | ".join(str(count.kinds[k]) if count.kinds[k] else "" for k in shown)
        rows.append(f"| {_cell(op, 80)} | {len(some)} | {cells} | {number(count.units, 2)} |")
    return "\n".join(rows) if results else ""


def _cell(text: str, most: int = 200) -> str:
    """Text as text: no HTML, no table cell's end, no emphasis, no @mention and no #reference."""
    short = line(text)
    short = short if len(short) <= most else short[: most - 1] + "…"
    short = short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    short = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", short)
    return re.sub(r"([@#])(?=\w)", "\\1\u2060", short)


def _code(text: str) -> str:
    """A code span in a table, where a pipe would end the cell whatever stands around it."""
    short = line(text)[:300].replace("|", "¦")
    ticks = "``" if "`" in short else "`"
    return f"{ticks}{short}{ticks}"
