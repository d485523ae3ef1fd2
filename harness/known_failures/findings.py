"""What a run says of entries: which of them speak of it, what fails the run, and what is only news."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path

import opproof.backends
from opproof.core.capabilities import library_of
from opproof.core.errors import UsageError
from opproof.core.verdicts import FAILED, OPEN, Verdict
from opproof.harness.known_failures.known import Known, read_known
from opproof.harness.known_failures.limits import measure_finite_size
from opproof.reports import Result
from opproof.reports._text import format_count


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
    path = ledger_of(spec)
    if path is None:
        return []
    return [replace(entry, backend=spec, backends=(), built_in=True) for _, entry in read_own_entries(path, spec)]


def read_own_entries(path: Path, spec: str) -> list[tuple[int, Known]]:
    """The entries for `spec` in a ledger that comes with a library, each with its place in the file."""
    library = path.parent.name
    entries = (e if e.specs else replace(e, backends=_speaks_of(e, library)) for e in read_known(path))
    return [(place, entry) for place, entry in enumerate(entries) if entry.covers_backend(spec)]


def _speaks_of(entry: Known, library: str) -> tuple[str, ...]:
    """The backends that an entry of the library's list means where it names none."""
    return (library, f"{library}:*", f"{library}@*") if entry.operators else (library,)


def find_entries(spec: str, ledger: Path | None) -> tuple[Path, list[tuple[int, Known]]]:
    """`ledger`, or that which comes with the library, and what it says of `spec`. Raises UsageError."""
    path = ledger_of(spec) if ledger is None else ledger
    if path is None:
        raise UsageError(f"{spec} comes without a ledger; give one with --known FILE.")
    if ledger is None:
        return path, read_own_entries(path, spec)
    return path, [(place, e) for place, e in enumerate(read_known(path)) if e.covers_backend(spec)]


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
