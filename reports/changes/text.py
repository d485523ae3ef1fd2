"""What changed between two runs, as plain text and as Markdown."""

from __future__ import annotations

import re

from opproof.core.text import escape_unprintable
from opproof.reports._record import Result
from opproof.reports._summary import describe_own_faults, describe_provisos
from opproof.reports._text import escape_cell, format_count, format_line, number
from opproof.reports.changes.record import TITLES, Change, Changed, Changes, Figure, Moved

#: A heading, and its rows; each row one line or more.
Section = tuple[str, list[list[str]]]


def summarise_changes(changes: Changes) -> str:
    """The outcome in one sentence."""
    if not changes.compared:
        return "Nothing was compared: the two runs have no record in common."
    count = {change: len(changes.of(change)) for change in Change}
    parts = [
        f"{count[Change.BROKEN]:,} newly failing" * bool(count[Change.BROKEN]),
        f"{count[Change.LOST]:,} no longer proved" * bool(count[Change.LOST]),
        f"{format_count(count[Change.NEW_FAILING], 'failing new record')}" * bool(count[Change.NEW_FAILING]),
        f"larger errors in {format_count(count[Change.GROWN], 'place')}" * bool(count[Change.GROWN]),
        f"{format_count(changes.cut_short, 'planned record')} that did not run" * bool(changes.cut_short),
    ]
    worse = ", ".join(p for p in parts if p)
    rest = f"; {count[Change.MENDED]:,} no longer failing" * bool(count[Change.MENDED])
    if faults := describe_own_faults([c.after for c in changes.of(Change.HARNESS_ERROR)]):
        rest += f"; {faults}"
    start = f"Regression: {worse}, of" if worse else "No regression in"
    return (
        f"{start} {format_count(changes.compared, 'record')} compared{rest}{'' if rest.endswith(('.', '…')) else '.'}"
    )


def format_text(changes: Changes, *, limit: int = 20) -> str:
    """Plain text for a terminal, at most `limit` rows a section; what differs between the runs' conditions is first."""
    blocks = [changes.conditions] if changes.conditions else []
    blocks += ["\n".join(notes)] if (notes := _collect_notes(changes)) else []
    for title, rows in _make_sections(changes):
        shown = ["\n    ".join(row) for row in rows[:limit]]
        more = [f"… and {len(rows) - limit:,} more"] * (len(rows) > limit)
        blocks.append("\n  ".join([f"{title} ({len(rows):,})", *shown, *more]))
    return "\n\n".join([*blocks, summarise_changes(changes)])


def format_markdown(changes: Changes, *, limit: int = 50) -> str:
    """Markdown for a pull-request comment: the sentence, the notes, a folded list a section."""
    good = changes.compared and not changes.regressions and not changes.of(Change.HARNESS_ERROR)
    conditions = [escape_cell(changes.conditions, 1000)] * bool(changes.conditions)
    notes = [*conditions, *(escape_cell(note, 1000) for note in _collect_notes(changes))]
    blocks = [f"### {'✅' if good else '❌'} opproof compare: {escape_cell(summarise_changes(changes), 1500)}", *notes]
    for title, rows in _make_sections(changes):
        shown = ["\n".join(row) for row in rows[:limit]]
        more = [f"… and {len(rows) - limit:,} more"] * (len(rows) > limit)
        body = _wrap_in_fence("\n".join([*shown, *more]))
        blocks.append(f"<details><summary>{title} ({len(rows):,})</summary>\n\n{body}\n\n</details>")
    return "\n\n".join(blocks) + "\n"


def _collect_notes(changes: Changes) -> list[str]:
    within = describe_provisos([c.after for c in changes.records])
    return [*changes.notes, *[within] * bool(within)]


def _make_sections(changes: Changes) -> list[Section]:
    """What changed, by TITLES; of a change for the better the records alone."""
    sections: list[Section] = []
    for change, title in TITLES.items():
        if change is Change.GROWN:
            rows = list(map(_format_moved, changes.grown))
            sections.append((f"{title}: the largest of what passes in both, in units of honest rounding", rows))
        elif change is not Change.SAME:
            brief = change in (Change.OTHER, Change.MENDED)
            rows = [_format_changed(c) for c in changes.of(change)]
            sections.append((title, [row[:1] for row in rows] if brief else rows))
    sections.append(("vanished", [[_name(r)] for r in changes.vanished]))
    return [(title, rows) for title, rows in sections if rows]


def _name(r: Result) -> str:
    return f"{format_line(r.case)}  {r.mode}  {format_line(r.backend)}"


def _format_changed(changed: Changed) -> list[str]:
    before, after = changed.before, changed.after
    if changed.change is Change.NEW:
        return [_name(after)]
    if before is None:
        return [f"{_name(after)}: {after.verdict}", *_explain_result(after)]
    known = " (known)" if after.known else ""
    units = "" if after.units is None else f", {number(before.units, 3)} → {number(after.units, 3)} units"
    return [f"{_name(after)}: {before.verdict} → {after.verdict}{known}{units}", *_explain_result(after)]


def _explain_result(result: Result) -> list[str]:
    texts = [format_line(t) for t in (result.message, result.diagnosis) if t]
    return [*texts, escape_unprintable(result.repro)] if result.repro else texts


def _format_moved(moved: Moved) -> list[str]:
    figure = f"{moved.figure} {number(moved.before, 3)} → {number(moved.after, 3)}"
    if moved.figure is Figure.UNITS:
        figure = f"{_of(moved.before, moved.limits[0])} → {_of(moved.after, moved.limits[1])} units"
    times = "" if moved.times is None else f", {number(moved.times, 2)} times"
    first = f"{format_line(moved.what)}: {figure}{times}"
    return [first, format_line(moved.case)] if moved.case else [first]


def _of(size: float, limit: float | None) -> str:
    return number(size, 3) if limit is None else f"{number(size, 3)} of {number(limit, 3)}"


def _wrap_in_fence(body: str) -> str:
    longest = max(map(len, re.findall("`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{body}\n{fence}"
