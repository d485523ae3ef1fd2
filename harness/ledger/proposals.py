"""Entries proposed for the ledger of known failures; their reasons are for a person to give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.ledger.cover import cover
from opproof.harness.ledger.entries import decoded, tables
from opproof.harness.ledger.known import Known
from opproof.harness.ledger.limits import SIZED, finite_size, limits_of
from opproof.harness.ledger.patterns import seedless
from opproof.harness.ledger.written import written
from opproof.reports import Result
from opproof.reports.files import writable, write


@dataclass(frozen=True)
class Proposal:
    """One entry without its reason, and the failures that it covers."""

    patterns: tuple[str, ...]
    results: tuple[Result, ...]


@dataclass(frozen=True, order=True)
class _Kind:
    """Failures of one kind share entries: of one operator, and wrong in one way."""

    op: str
    backend: str
    mode: Mode
    verdict: Verdict
    zeros: bool
    nonfinite: bool
    without: bool  # no finite number is left
    immeasurable: bool


def read(path: Path) -> list[Known]:
    """The entries that the ledger has already, also those whose reason nobody has given yet. Raises UsageError."""
    if not path.exists():
        return []
    entries = [_with_reason(entry) if isinstance(entry, dict) else entry for entry in tables(path, "known")]
    return decoded(path, "known", Known, entries)


def _with_reason(entry: dict[str, Any]) -> dict[str, Any]:
    return entry if str(entry.get("reason", "")).strip() else {**entry, "reason": "to be given"}


def add(path: Path, entries: Sequence[Known], results: Sequence[Result]) -> str:
    """Append proposals for unexpected failures that no entry names; returns what to say. Raises UsageError.

    One that an entry names, but that is larger than its limits, is left for a person to look at.
    """
    proposals = propose([r for r in results if not any(e.names(r) for e in entries)])
    if not proposals:
        return f"{path}: nothing to propose, no unexpected failure is without an entry."
    text = "\n".join(written(p.patterns, p.results) for p in proposals)
    with writable(path):
        old = path.read_text(encoding="utf-8") if path.exists() else ""
    write(path, f"{old}\n{text}" if old else text)
    count = len(proposals)
    noun = "entry" if count == 1 else "entries"
    return f"{path}: {count} {noun} proposed; give each its reason, before which --known refuses the file."


def propose(results: Sequence[Result]) -> list[Proposal]:
    """Few entries that cover every unexpected failure and nothing that did not fail in the same way.

    An entry's errors are of one decade: its limit is near all of them.
    """
    groups: dict[_Kind, list[Result]] = {}
    for r in results:
        if r.verdict in FAILED and not r.known:
            groups.setdefault(_kind(r), []).append(r)
    proposals: list[Proposal] = []
    for kind, failing in sorted(groups.items()):
        same = [r for r in results if (r.op, r.backend, r.mode) == (kind.op, kind.backend, kind.mode)]
        others = {seedless(r.case) for r in same if r.known or r.verdict not in FAILED or _kind(r) != kind}
        records: dict[str, list[Result]] = {}
        for r in failing:
            records.setdefault(seedless(r.case), []).append(r)
        by_size: dict[int, list[Proposal]] = {}
        for pattern, cases in cover(kind.op, list(records), others - set(records), wide=kind.verdict not in SIZED):
            proposal = Proposal((pattern,), tuple(r for case in cases for r in records[case]))
            by_size.setdefault(_decade(proposal.results), []).append(proposal)
        proposals += map(_joined, by_size.values())
    return proposals


def _joined(some: Sequence[Proposal]) -> Proposal:
    return Proposal(tuple(p for one in some for p in one.patterns), tuple(r for one in some for r in one.results))


def _kind(r: Result) -> _Kind:
    sized = r.verdict in SIZED and not r.zeros
    without = sized and r.nonfinite > 0 and (r.share is None or r.share == 1)
    immeasurable = sized and math.isinf(finite_size(r))
    return _Kind(r.op, r.backend, r.mode, r.verdict, r.zeros, r.nonfinite > 0, without, immeasurable)


def _decade(results: Sequence[Result]) -> int:
    units = limits_of(results).units
    return 0 if units is None else math.floor(math.log10(units))
