"""What changed between two runs, as plain text and as Markdown."""

from __future__ import annotations

import re

from opproof.reports._record import Result
from opproof.reports._summary import kind
from opproof.reports._text import line, number, plain, plural
from opproof.reports.changes import Changes, Moved, Pair

#: A heading, what it says, its rows; each row one line or more.
Section = tuple[str, list[list[str]]]


def sentence(changes: Changes) -> str:
    """The outcome in one sentence."""
    if not changes.compared:
        return "Nothing was compared: the two runs have no record in common."
    parts = [
        f"{len(changes.broken):,} newly failing" * bool(changes.broken),
        f"{len(changes.lost):,} no longer proved" * bool(changes.lost),
        f"{plural(len(changes.new_failing), 'failing new record')}" * bool(changes.new_failing),
        f"larger errors in {plural(len(changes.grown), 'place')}" * bool(changes.grown),
        f"{plural(len(changes.slower), 'slower operator')}" * bool(changes.slower),
        f"{plural(changes.cut_short, 'planned record')} that did not run" * bool(changes.cut_short),
    ]
    worse = ", ".join(p for p in parts if p)
    mended = f"; {len(changes.mended):,} no longer failing" if changes.mended else ""
    if worse:
        return f"Regression: {worse}, of {plural(changes.compared, 'record')} compared{mended}."
    return f"No regression in {plural(changes.compared, 'record')} compared{mended}."


def text(changes: Changes, *, limit: int = 20) -> str:
    """Plain text for a terminal, at most `limit` rows a section."""
    blocks = ["\n".join(changes.notes)] if changes.notes else []
    for title, rows in _sections(changes):
        shown = ["\n    ".join(row) for row in rows[:limit]]
        more = [f"… and {len(rows) - limit:,} more"] * (len(rows) > limit)
        blocks.append("\n  ".join([f"{title} ({len(rows):,})", *shown, *more]))
    return "\n\n".join([*blocks, sentence(changes)])


def markdown(changes: Changes, *, limit: int = 50) -> str:
    """Markdown for a pull-request comment: the sentence, the notes, a folded list a section."""
    good = changes.compared and not changes.regressions
    blocks = [f"### {'✅' if good else '❌'} opproof compare: {sentence(changes)}", *changes.notes]
    for title, rows in _sections(changes):
        shown = ["\n".join(row) for row in rows[:limit]]
        more = [f"… and {len(rows) - limit:,} more"] * (len(rows) > limit)
        body = _fenced("\n".join([*shown, *more]))
        blocks.append(f"<details><summary>{title} ({len(rows):,})</summary>\n\n{body}\n\n</details>")
    return "\n\n".join(blocks) + "\n"


def _sections(changes: Changes) -> list[Section]:
    growth = "larger errors: the largest of what passes in both, in units of honest rounding"
    found: list[Section] = [
        ("newly failing", [_pair(p) for p in changes.broken]),
        ("no longer proved", [_pair(p) for p in changes.lost]),
        ("new and failing", [_one(r) for r in changes.new_failing]),
        (growth, [_moved(m, "units") for m in changes.grown]),
        ("slower, in seconds with the judging", [_moved(m, "s") for m in changes.slower]),
        ("other changes of verdict", [_pair(p)[:1] for p in changes.other]),
        ("no longer failing", [_pair(p)[:1] for p in changes.mended]),
        ("new", [[_name(r)] for r in changes.new if kind(r) != "failed"]),
        ("vanished", [[_name(r)] for r in changes.vanished]),
    ]
    return [(title, rows) for title, rows in found if rows]


def _name(r: Result) -> str:
    return f"{line(r.case)}  {r.mode}  {line(r.backend)}"


def _pair(pair: Pair) -> list[str]:
    before, after = pair.before, pair.after
    known = " (known)" if after.known else ""
    units = "" if after.units is None else f", {number(before.units, 3)} → {number(after.units, 3)} units"
    return [f"{_name(after)}: {before.verdict} → {after.verdict}{known}{units}", *_why(after)]


def _one(result: Result) -> list[str]:
    return [f"{_name(result)}: {result.verdict}", *_why(result)]


def _why(result: Result) -> list[str]:
    said = [line(t) for t in (result.message, result.diagnosis) if t]
    return [*said, plain(result.repro)] if result.repro else said


def _moved(moved: Moved, unit: str) -> list[str]:
    times = f", {number(moved.after / moved.before, 2)} times" if moved.before else ""
    first = f"{line(moved.what)}: {number(moved.before, 3)} → {number(moved.after, 3)} {unit}{times}"
    return [first, line(moved.case)] if moved.case else [first]


def _fenced(body: str) -> str:
    longest = max(map(len, re.findall("`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{body}\n{fence}"
