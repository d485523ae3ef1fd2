"""What a run says of the ledger's entries: what fails the run, and what is only news."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opproof.core.verdicts import FAILED, OPEN, Verdict
from opproof.harness.ledger.known import Known
from opproof.harness.ledger.limits import finite_size
from opproof.harness.run.extent import Extent
from opproof.reports import Result


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


def findings(known: Iterable[Known], results: Iterable[Result]) -> list[Finding]:
    """A finding for every entry."""
    by_op: dict[str, list[Result]] = {}
    for result in results:
        by_op.setdefault(result.op, []).append(result)
    return [
        Finding(entry, tuple(r for op, some in by_op.items() if entry.may_name(op) for r in some if entry.covers(r)))
        for entry in known
    ]


def objections(
    found: Iterable[Finding], results: Iterable[Result], today: datetime.date, *, extent: Extent = Extent.ALL
) -> list[str]:
    """What is wrong with the user's list itself after a run, a sentence each; they fail the run.

    An entry that covers nothing is an objection only after a run of everything, one that is too wide where its
    operators were tried in full, and one of which everything passes after every run.
    """
    sentences = []
    sizes = Counter(map(_whole, results))
    for f in found:
        if f.entry.built_in:
            continue
        if f.entry.until is not None and today >= f.entry.until:
            said = f"has expired on {f.entry.until}: mend it, or give a new date with a reason."
        elif not f.covered:
            said = "matches no case of this run: remove it, or mend its pattern." if extent is Extent.ALL else ""
        else:
            wide = _too_wide(f, sizes) if extent >= Extent.OPERATORS else ""
            said = _idle(f, extent) or wide
        if said:
            sentences.append(f"{f.entry.name} {said}")
    return sentences


def _idle(f: Finding, extent: Extent) -> str:
    """That an entry explains none of its cases, though it should."""
    if f.explained or not (f.ran or extent is Extent.ALL):
        return ""
    if f.named:  # what another entry explains needs no other limit
        beyond = [r for r in f.named if not r.known]
        return _beyond(f.entry, beyond) if beyond else ""
    if f.entry.operators and f.failing:
        return ""
    if f.failing and extent is not Extent.ALL:
        return ""  # in another way, which fails the run
    verdicts = ", ".join(sorted({r.verdict for r in f.covered}))
    if f.failing:
        return f"fails in another way ({verdicts}): find out why, and give that an entry with its verdict."
    return f"no longer fails ({verdicts}): remove it."


def _beyond(entry: Known, failures: Iterable[Result]) -> str:
    """How far outside its limits an entry fails."""
    if entry.operators:
        return "explains no failure: the answer is wrong under the changed reference too; find out why."
    largest = max(map(finite_size, failures))
    if entry.units is not None and largest > entry.units:
        said = f"fails with {largest:.3g} units, more than its {entry.units:g}"
        return f"{said}: find out why, or give a larger number."
    return "fails outside its limits (zeros, nonfinite, share or rms): find out why, or mend the entry."


def _whole(r: Result) -> tuple[str, str, str]:
    return r.op, r.mode, r.backend


def _too_wide(f: Finding, sizes: Counter[tuple[str, str, str]]) -> str:
    """That an entry covers an operator whose records are more right than wrong."""
    if f.entry.is_fault or f.entry.operators:
        return ""
    covered, passing, failing = (Counter(map(_whole, some)) for some in (f.covered, f.passing, f.failing))
    for key, count in covered.items():
        if count == sizes[key] and passing[key] > failing[key]:
            return (
                f"is too wide: it covers {count:,} records of {key[0]}, of which {passing[key]:,} pass; "
                "name fills, shapes or dtypes."
            )
    return ""


def news(found: Iterable[Finding]) -> list[str]:
    """What does not fail the run: patterns of the user's of which some cases pass now."""
    return [f"{f.entry.name} {said}" for f in found if not f.entry.built_in and (said := _news(f))]


def idle(found: Iterable[Finding]) -> list[Finding]:
    """The built-in entries whose operators ran and that explained nothing."""
    return [f for f in found if f.entry.built_in and f.ran and not f.explained]


def _news(f: Finding) -> str:
    if f.entry.operators or not f.explained or not f.passing:
        return ""
    return f"is mended in part: {_some(f.passing)} of {len(f.covered):,} pass; leave them out of its patterns."


def _some(passing: Sequence[Result]) -> str:
    """How many, and the first of them."""
    names = ", ".join(f"{r.case} {r.mode}" for r in passing[:3])
    return f"{len(passing):,} ({names}{', …' if len(passing) > 3 else ''})"
