"""Entries proposed for the ledger of known failures; their reasons are for a person to give."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opproof.harness.ledger.entries import decoded, tables
from opproof.harness.ledger.known import Known, pattern_regex
from opproof.reports import Result
from opproof.reports._text import line, plural
from opproof.reports.files import writable, write
from opproof.vocabulary.dtypes import DTYPES
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.text import visible
from opproof.vocabulary.verdicts import FAILED, Verdict

#: Parts of an id that a pattern may name at once.
_PARTS = 2
_SHAPE = re.compile(r"\w+=(0d|\d+,|\d+(x\d+)+|@\w+)")


@dataclass(frozen=True)
class Proposal:
    """One entry without its reason, and the failures that it covers."""

    pattern: str
    results: tuple[Result, ...]


def read(path: Path) -> list[Known]:
    """The entries that the ledger has already, of any size, also those whose reason nobody has given yet.

    Raises UsageError.
    """
    if not path.exists():
        return []
    entries = [_with_reason(entry) if isinstance(entry, dict) else entry for entry in tables(path, "known")]
    return [replace(entry, units=math.inf) for entry in decoded(path, "known", Known, entries)]


def _with_reason(entry: dict[str, Any]) -> dict[str, Any]:
    return entry if str(entry.get("reason", "")).strip() else {**entry, "reason": "to be given"}


def add(path: Path, entries: Sequence[Known], results: Sequence[Result]) -> str:
    """Append proposals for unexpected failures that no entry covers; returns what to say. Raises UsageError."""
    proposals = propose([r for r in results if not any(e.explains(r) for e in entries)])
    if not proposals:
        return f"{path}: nothing to propose, no unexpected failure is without an entry."
    text = "\n".join(_entry(p) for p in proposals)
    with writable(path):
        old = path.read_text(encoding="utf-8") if path.exists() else ""
    write(path, f"{old}\n{text}" if old else text)
    count = len(proposals)
    noun = "entry" if count == 1 else "entries"
    return f"{path}: {count} {noun} proposed; give each its reason, before which --known refuses the file."


def propose(results: Sequence[Result]) -> list[Proposal]:
    """Few patterns that cover every unexpected failure and nothing that did not fail in the same way."""
    groups: dict[tuple[str, str, Mode, Verdict], list[Result]] = {}
    for r in results:
        if r.verdict in FAILED and not r.known:
            groups.setdefault((r.op, r.backend, r.mode, r.verdict), []).append(r)
    proposals: list[Proposal] = []
    for (op, backend, mode, verdict), failing in sorted(groups.items()):
        same = [r for r in results if (r.op, r.backend, r.mode) == (op, backend, mode)]
        others = [r.case for r in same if r.verdict != verdict or r.known]
        proposals += _cover(op, failing, others)
    return proposals


def _cover(op: str, failing: Sequence[Result], others: Sequence[str]) -> list[Proposal]:
    """Greedily the widest pattern that touches none of `others`, until all of `failing` are covered.

    Of equally wide ones that which names most parameters, the dtype, fill or layout among them, and fewest shapes.
    """
    candidates = [(p, rank, pattern_regex(p)) for p, rank in _candidates(op, failing).items()]
    candidates = [c for c in candidates if not any(map(c[2].fullmatch, others))]
    left = list(failing)
    proposals: list[Proposal] = []
    while left:
        sized = [(sum(regex.fullmatch(r.case) is not None for r in left), rank, p) for p, rank, regex in candidates]
        size, _, pattern = max(sized, default=(0, 0, ""))
        if size < 2:  # no pattern says more than the ids themselves
            return proposals + [Proposal(r.case, (r,)) for r in left]
        regex = pattern_regex(pattern)
        proposals.append(Proposal(pattern, tuple(r for r in left if regex.fullmatch(r.case))))
        left = [r for r in left if not regex.fullmatch(r.case)]
    return proposals


def _candidates(op: str, failing: Sequence[Result]) -> dict[str, int]:
    """Patterns from the parts that failing ids share, each with its rank among equally wide ones."""
    ranks = {f"{op}[*": 0}
    ids = [r.case.partition("[")[2].removesuffix("]").split(";") for r in failing]
    shared = Counter(part for parts in ids for part in parts)
    for parts in ids:
        often = [i for i, part in enumerate(parts) if shared[part] > 1]
        for count in range(1, _PARTS + 1):
            for some in itertools.combinations(often, count):
                rank = sum(-1 if _SHAPE.fullmatch(parts[i]) else 1 for i in some)
                ranks |= dict.fromkeys(_patterns(op, parts, some), rank)
    return ranks


def _patterns(op: str, parts: Sequence[str], some: Sequence[int]) -> list[str]:
    """`some` of the parts of an id, each whole, anything between them; as they end the id, and with more behind."""
    text, last = f"{op}[", -1
    for i in some:
        text += "" if i == last + 1 == 0 else ";" if i == last + 1 else "*;" if last < 0 else ";*;"
        text, last = text + parts[i], i
    if parts[last] in DTYPES:  # no name of a dtype begins another's
        return [f"{text}]", f"{text}*"]
    return [f"{text}]" if last == len(parts) - 1 else f"{text};*"]


def _entry(proposal: Proposal) -> str:
    first = proposal.results[0]
    why = next((t for r in proposal.results for t in (r.diagnosis, r.message) if t), "")
    count = len(proposal.results)
    rows = [f"# {plural(count, 'record')}, such as {' '.join(visible(first.repro or first.case).split())}"]
    rows += [f"# {line(why)[:200]}"] * bool(why)
    rows += ["[[known]]", f"pattern = {_toml(proposal.pattern)}", f"backend = {_toml(first.backend)}"]
    rows += [f'mode = "{first.mode}"', f'verdict = "{first.verdict}"']
    rows.append('reason = ""  # say why this fails, and whose defect it is; opproof refuses an entry without a reason')
    return "\n".join(rows) + "\n"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
