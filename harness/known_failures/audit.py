"""What some seeds of the covered cases say of a list: too wide, too high, not seen, failures unexplained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.harness.known_failures.findings import Finding, find_shown, key_of, make_findings
from opproof.harness.known_failures.known import Known, strip_seed
from opproof.harness.known_failures.limits import ErrorLimits, calculate_limit, find_largest_figures, is_high, limits_of
from opproof.reports import Result
from opproof.reports._text import format_count, format_line, number
from opproof.reports.files import write


@dataclass(frozen=True)
class EntryCheck:
    """An entry, what its cases did, and the limits that follow from it."""

    finding: Finding
    own: tuple[Result, ...]  # failures that are this entry's to explain
    unexplained: tuple[Result, ...]  # failures of its cases that no entry explains
    shown_beside: bool = False  # another entry of the same operators and reason explained something

    @property
    def limits(self) -> ErrorLimits:
        """What the entry would say if it were written today."""
        return limits_of(self.own)

    @property
    def objections(self) -> list[str]:
        """What is wrong with the entry, a few words each."""
        entry, now = self.finding.entry, self.limits
        if not self.finding.covered:
            return ["not seen: it covers no case"] if entry.is_expected else []
        said: list[str] = []
        if entry.operators:
            causes = {c for r in self.finding.failing for c in r.causes}  # followed by what their functions raised
            said = [f"raised: {cause}" for cause in sorted(causes) if cause.startswith(f"{entry.cause}: ")]
            missed = entry.is_expected and not self.own and not self.shown_beside
            return [*said, *(["not seen: it explained nothing"] if missed else []), *self._unexplained]
        failing = {(strip_seed(r.case), r.mode) for r in self.finding.failing}
        passing = {(strip_seed(r.case), r.mode) for r in self.finding.passing} - failing
        if entry.is_expected and len(passing) > len(failing) > 0:
            said.append(
                f"too wide: {format_count(len(passing), 'case')} of {len(passing) + len(failing):,} never failed"
            )
        for name, old, largest in self._figures:
            if is_high(old, largest):
                said.append(f"too high: {name} = {old:g}, at most {largest:.3g} was seen")
        if not self.own:
            said += ["not seen: nothing failed so"] if entry.is_expected else []
        else:
            unseen = [n for n in ("nonfinite", "zeros") if getattr(entry, n) and not getattr(now, n)]
            said += [f"not seen: {name} = true" for name in unseen]
        return [*said, *self._unexplained]

    @property
    def _unexplained(self) -> list[str]:
        if not self.unexplained:
            return []
        r, count = self.unexplained[0], format_count(len(self.unexplained), "failure")
        limits = "" if self.finding.entry.operators else " outside the limits"
        return [f"unexplained: {count}{limits}, such as {r.case} {r.mode} {r.verdict}"]

    @property
    def sentences(self) -> list[str]:
        """The objections, each with the entry's name."""
        return [f"{self.finding.entry.name}: {format_line(said)}" for said in self.objections]

    @property
    def _figures(self) -> list[tuple[str, float, float]]:
        """The limits that are numbers: name, what the entry has, and the largest that was seen."""
        entry, largest = self.finding.entry, find_largest_figures(self.own)
        pairs = (("units", entry.units, largest.units), ("rms", entry.rms, largest.rms))
        return [(name, old, new) for name, old, new in pairs if old is not None and new is not None]

    @property
    def changes(self) -> dict[str, float]:
        """The limits to write instead of those that are too high, or lower than what was seen."""
        return {
            name: calculate_limit(largest)
            for name, old, largest in self._figures
            if old < largest or is_high(old, largest)
        }


def check_entries(known: Iterable[Known], results: Sequence[Result]) -> list[EntryCheck]:
    """A check for every entry, from records over some seeds."""
    found = make_findings(known, results)
    explained, shown = {id(r) for f in found for r in f.explained}, find_shown(found)
    return [
        EntryCheck(
            f,
            tuple(r for r in f.named if f.entry.explains(r) or (id(r) not in explained and not f.entry.operators)),
            tuple(r for r in f.failing if id(r) not in explained),
            key_of(f.entry) in shown,
        )
        for f in found
    ]


def rewrite(path: Path, changes: Mapping[int, Mapping[str, float]]) -> None:
    """Change numbers of the ledger's entries, by their place; comments and order stay. Raises UsageError."""
    import tomlkit

    document: Any = tomlkit.parse(path.read_text(encoding="utf-8"))
    for place, numbers in changes.items():
        for name, value in numbers.items():
            document["known"][place][name] = int(value) if value == int(value) else value
    write(path, tomlkit.dumps(document))


_HEAD = ("entry", "covered", "failed", "passed", "largest units", "units allowed")


def format_table(checks: Sequence[EntryCheck]) -> str:
    """A row for each entry: how many records it covers, fail, pass, and the largest error beside its limit."""
    from tabulate import tabulate

    rows = [_format_row(c) for c in checks]
    return str(tabulate(rows, _HEAD, disable_numparse=True, colalign=("left", *["right"] * 5)))


def format_summary(checks: Sequence[EntryCheck], seeds: int) -> str:
    """The last line."""
    objections = sum(len(c.objections) for c in checks)
    entries = "1 entry" if len(checks) == 1 else f"{len(checks):,} entries"
    records = format_count(sum(len(c.finding.covered) for c in checks), "record")
    return f"{entries}, {records} over {format_count(seeds, 'seed')}: {format_count(objections, 'objection')}"


def _format_row(c: EntryCheck) -> tuple[str, ...]:
    f = c.finding
    more = len(f.entry.globs) - 1
    limit = ", ".join(f.entry.failures) if f.entry.is_fault else number(f.entry.units, 3)
    what = f"{', '.join(f.entry.operators)} ({f.entry.cause})" if f.entry.operators else format_line(f.entry.globs[0])
    counts = (f"{len(some):,}" for some in (f.covered, f.failing, f.passing))
    return (
        what + (f" and {more} more" if more > 0 else ""),
        *counts,
        number(find_largest_figures(c.own).units, 3),
        limit,
    )
