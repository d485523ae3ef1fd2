"""What a run says of entries, and several seeds of the cases that they cover: what fails the run, what is only news."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import opproof.backends
from opproof.core.capabilities import library_of
from opproof.core.errors import UsageError
from opproof.core.verdicts import FAILED, OPEN, Verdict
from opproof.harness.known_failures.known import Known, read_known, strip_seed
from opproof.harness.known_failures.limits import (
    calculate_limit,
    find_largest_figures,
    is_high,
    limits_of,
    measure_finite_size,
)
from opproof.reports import Result
from opproof.reports._text import format_count, format_line, number
from opproof.reports.files import write


class Extent(IntEnum):
    """From least to most."""

    PART = 0  # some cases of an operator
    OPERATORS = 1  # of the operators that are tried every case
    ALL = 2  # every case of a level that ledgers are written for


@dataclass(frozen=True)
class Finding:
    """An entry, and the records that it covers."""

    entry: Known
    covered: tuple[Result, ...]

    @property
    def passing(self) -> list[Result]:
        return [r for r in self.covered if r.verdict == Verdict.PASS]

    @property
    def failing(self) -> list[Result]:
        return [r for r in self.covered if r.verdict in FAILED]

    @property
    def named(self) -> list[Result]:
        """Failures of the entry's verdict, of any size."""
        return [r for r in self.covered if self.entry.names(r)]

    @property
    def explained(self) -> list[Result]:
        return [r for r in self.covered if self.entry.explains(r)]

    @property
    def ran(self) -> bool:
        """Whether a record says anything of the backend."""
        return any(r.verdict not in OPEN and r.verdict != Verdict.UNSUPPORTED for r in self.covered)


def make_findings(known: Iterable[Known], results: Iterable[Result]) -> list[Finding]:
    """A finding for every entry."""
    by_op: dict[str, list[Result]] = {}
    for result in results:
        by_op.setdefault(result.op, []).append(result)
    return [
        Finding(entry, tuple(r for op, some in by_op.items() if entry.can_name(op) for r in some if entry.covers(r)))
        for entry in known
    ]


def find_ledger_errors(
    found: Iterable[Finding], results: Iterable[Result], today: datetime.date, *, extent: Extent = Extent.ALL
) -> list[str]:
    """What is wrong with the user's list itself after a run, a sentence each; they fail the run.

    An entry that covers nothing is an objection only after a run of everything, one that is too wide where its
    operators were tried in full, and one of which everything passes after every run.
    """
    sentences = []
    sizes = Counter(map(_operator_key_of, results))
    for f in found:
        if f.entry.built_in:
            continue
        if f.entry.until is not None and today >= f.entry.until:
            said = f"has expired on {f.entry.until}: mend it, or give a new date with a reason."
        elif not f.covered:
            said = "matches no case of this run: remove it, or mend its pattern." if extent is Extent.ALL else ""
        else:
            wide = _describe_too_wide(f, sizes) if extent >= Extent.OPERATORS else ""
            said = _describe_idle(f, extent) or wide
        if said:
            sentences.append(f"{f.entry.name} {said}")
    return sentences


def _describe_idle(f: Finding, extent: Extent) -> str:
    """That an entry explains none of its cases, though it should."""
    if f.explained or not (f.ran or extent is Extent.ALL):
        return ""
    if f.named:  # what another entry explains needs no other limit
        beyond = [r for r in f.named if not r.known]
        return _describe_excess(f.entry, beyond) if beyond else ""
    if f.entry.operators and f.failing:
        return ""
    if f.failing and extent is not Extent.ALL:
        return ""  # in another way, which fails the run
    verdicts = ", ".join(sorted({r.verdict for r in f.covered}))
    if f.failing:
        return f"fails in another way ({verdicts}): find out why, and give that an entry with its verdict."
    return f"no longer fails ({verdicts}): remove it."


def _describe_excess(entry: Known, failures: Iterable[Result]) -> str:
    """How far outside its limits an entry fails."""
    if entry.operators:
        return "explains no failure: the answer is wrong under the changed reference too; find out why."
    largest = max(map(measure_finite_size, failures))
    if entry.units is not None and largest > entry.units:
        said = f"fails with {largest:.3g} units, more than its {entry.units:g}"
        return f"{said}: find out why, or give a larger number."
    return "fails outside its limits (zeros, nonfinite, share or rms): find out why, or mend the entry."


def _operator_key_of(r: Result) -> tuple[str, str, str]:
    return r.op, r.mode, r.backend


def _describe_too_wide(f: Finding, sizes: Counter[tuple[str, str, str]]) -> str:
    """That an entry covers an operator whose records are more right than wrong."""
    if f.entry.is_fault or f.entry.operators:
        return ""
    covered, passing, failing = (Counter(map(_operator_key_of, some)) for some in (f.covered, f.passing, f.failing))
    for key, count in covered.items():
        if count == sizes[key] and passing[key] > failing[key]:
            return (
                f"is too wide: it covers {count:,} records of {key[0]}, of which {passing[key]:,} pass; "
                "name fills, shapes or dtypes."
            )
    return ""


def list_news(found: Iterable[Finding]) -> list[str]:
    """What does not fail the run: patterns of the user's of which some cases pass now."""
    return [f"{f.entry.name} {said}" for f in found if not f.entry.built_in and (said := _describe_news(f))]


def find_idle(found: Iterable[Finding]) -> list[Finding]:
    """The built-in entries that explained nothing, though their operators ran on a machine that shows them."""
    found = list(found)
    shown = find_shown(found)
    idle = (f for f in found if f.entry.built_in and f.entry.is_expected and f.ran and not f.explained)
    return [f for f in idle if key_of(f.entry) not in shown]


def key_of(entry: Known) -> tuple[frozenset[str], str]:
    """What entries of one reason share: memory never written shows as wrong numbers, or as others every time."""
    return entry.ops, entry.reason


def find_shown(found: Iterable[Finding]) -> set[tuple[frozenset[str], str]]:
    """The reasons that explained something."""
    return {key_of(f.entry) for f in found if f.explained}


def _describe_news(f: Finding) -> str:
    passing = f.passing
    if f.entry.operators or not f.explained or not passing:
        return ""
    names = ", ".join(f"{r.case} {r.mode}" for r in passing[:3])
    some = f"{len(passing):,} ({names}{', …' if len(passing) > 3 else ''})"
    return f"is mended in part: {some} of {len(f.covered):,} pass; leave them out of its patterns."


#: Ledgers of the built-in backends, applied to their runs unasked.
LEDGERS = Path(opproof.backends.__file__).parent


def ledger_of(spec: str) -> Path | None:
    """The ledger that comes with the library of a built-in backend, whichever variant `spec` is."""
    path = LEDGERS / library_of(spec) / "known.toml"
    return path if path.is_file() else None


def read_built_in(spec: str) -> list[Known]:
    """Of the list that comes with a library the entries for `spec`.

    A variant or another build, such as torch:cuda or ggml:PATH, inherits every cause that is executed: it explains
    nothing where it does not hold. Patterns with a size speak of the default alone, unless they name backends.
    """
    if ledger_of(spec) is None:
        return []
    return [replace(entry, backend=spec, backends=(), built_in=True) for _, entry in find_entries(spec, None)[1]]


def find_entries(spec: str, ledger: Path | None) -> tuple[Path, list[tuple[int, Known]]]:
    """`ledger`, or that which comes with the library, and what it says of `spec`, with places. Raises UsageError."""
    path = ledger_of(spec) if ledger is None else ledger
    if path is None:
        raise UsageError(f"{spec} comes without a ledger; give one with --known FILE.")
    entries = read_known(path)
    if ledger is None:  # the library's own, whose entries mean the library where they name no backend
        own = path.parent.name
        every = (own, f"{own}:*", f"{own}@*")
        entries = [e if e.specs else replace(e, backends=every if e.operators else (own,)) for e in entries]
    return path, [(place, e) for place, e in enumerate(entries) if e.covers_backend(spec)]


def of_versions(known: Iterable[Known], backends: Sequence[Mapping[str, str]]) -> tuple[list[Known], list[str]]:
    """The entries that speak of this machine and these versions (spec and version of each backend).

    And a sentence where some of the user's own do not.
    """
    speaking: list[Known] = []
    silent: Counter[tuple[str, str]] = Counter()
    for entry in known:
        if entry.where is not None and not entry.where.holds():
            continue
        if not entry.versions:
            speaking.append(entry)
            continue
        meant = [b for b in backends if entry.covers_backend(b.get("spec", ""))]
        same = [b.get("spec", "") for b in meant if any(_begins(b.get("version", ""), v) for v in entry.versions)]
        if not entry.built_in:
            silent.update((b.get("spec", ""), b.get("version", "")) for b in meant if b.get("spec", "") not in same)
        if same:
            speaking.append(replace(entry, backend="", backends=tuple(same)))
    return speaking, [
        f"{format_count(count, 'known failure')} of {spec} {'was' if count == 1 else 'were'} seen in other versions "
        f"than {version}, and {'explains' if count == 1 else 'explain'} nothing in this run."
        for (spec, version), count in silent.items()
    ]


def _begins(version: str, beginning: str) -> bool:
    """Whether 2.13 begins 2.13 and 2.13.1, not 2.130."""
    rest = version.removeprefix(beginning)
    return version.startswith(beginning) and not (beginning[-1:].isdigit() and rest[:1].isdigit())


@dataclass(frozen=True)
class EntryCheck:
    """An entry, what its cases did, and the limits that follow from it."""

    finding: Finding
    own: tuple[Result, ...]  # failures that are this entry's to explain
    unexplained: tuple[Result, ...]  # failures of its cases that no entry explains
    shown_beside: bool = False  # another entry of the same operators and reason explained something

    @property
    def objections(self) -> list[str]:
        """What is wrong with the entry, a few words each."""
        entry, now = self.finding.entry, limits_of(self.own)  # what it would say if it were written today
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
