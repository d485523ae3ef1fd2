"""Entries proposed for a list of known failures: few patterns that cover the cases; a person gives reasons."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from opproof.core.dtypes import DTYPES
from opproof.core.text import escape_unprintable
from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.known_failures.known import (
    Known,
    compile_pattern,
    covers_all,
    decode_entries,
    read_tables,
    strip_seed,
)
from opproof.harness.known_failures.limits import SIZED, limits_of, measure_finite_size
from opproof.reports import Result
from opproof.reports._text import format_count, format_line
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
    entries = read_tables(path, "known")
    for entry in entries:
        if isinstance(entry, dict) and not str(entry.get("reason", "")).strip():
            entry["reason"] = "to be given"
    return decode_entries(path, "known", Known, entries)


def add(path: Path, entries: Sequence[Known], results: Sequence[Result]) -> str:
    """Append proposals for unexpected failures that no entry names; returns what to say. Raises UsageError.

    One that an entry names, but that is larger than its limits, is left for a person to look at.
    """
    proposals = propose([r for r in results if not any(e.names(r) for e in entries)])
    if not proposals:
        return f"{path}: nothing to propose, no unexpected failure is without an entry."
    text = "\n".join(format_entry(p.patterns, p.results) for p in proposals)
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
            groups.setdefault(_classify(r), []).append(r)
    proposals: list[Proposal] = []
    for kind, failing in sorted(groups.items()):
        same = [r for r in results if (r.op, r.backend, r.mode) == (kind.op, kind.backend, kind.mode)]
        others = {strip_seed(r.case) for r in same if r.known or r.verdict not in FAILED or _classify(r) != kind}
        records: dict[str, list[Result]] = {}
        for r in failing:
            records.setdefault(strip_seed(r.case), []).append(r)
        by_size: dict[int, tuple[list[str], list[Result]]] = {}  # by the decade of the limit
        for pattern, cases in cover(kind.op, list(records), others - set(records), wide=kind.verdict not in SIZED):
            covered = [r for case in cases for r in records[case]]
            units = limits_of(covered).units
            patterns, some = by_size.setdefault(0 if units is None else math.floor(math.log10(units)), ([], []))
            patterns.append(pattern)
            some += covered
        proposals += [Proposal(tuple(patterns), tuple(some)) for patterns, some in by_size.values()]
    return proposals


def _classify(r: Result) -> _Kind:
    sized = r.verdict in SIZED and not r.zeros
    without = sized and r.nonfinite > 0 and (r.share is None or r.share == 1)
    immeasurable = sized and math.isinf(measure_finite_size(r))
    return _Kind(r.op, r.backend, r.mode, r.verdict, r.zeros, r.nonfinite > 0, without, immeasurable)


#: Parts of an id that a pattern may name at once.
_MAX_PATTERN_PARTS = 2
_SHAPE = re.compile(r"\w+=(0d|\d+,|\d+(x\d+)+|@\w+)")


def cover(op: str, cases: Sequence[str], others: Collection[str], *, wide: bool) -> list[tuple[str, tuple[str, ...]]]:
    """Patterns, and which of `cases`, ids of `op` without seeds, each covers; the whole operator if it may be `wide`.

    Greedily the widest pattern that touches none of `others`, until all of `cases` are covered. Of equally wide ones
    that which names most parameters, the dtype, fill or layout among them, and fewest shapes.
    """
    ranks = {p: rank for p, rank in _generate_candidates(op, cases).items() if wide or not covers_all(p)}
    candidates = [(p, rank, compile_pattern(p)) for p, rank in ranks.items()]
    candidates = [c for c in candidates if not any(map(c[2].fullmatch, others))]
    left = list(cases)
    covered: list[tuple[str, tuple[str, ...]]] = []
    while left:
        sized = [(sum(regex.fullmatch(case) is not None for case in left), rank, p) for p, rank, regex in candidates]
        size, _, pattern = max(sized, default=(0, 0, ""))
        if size < 2:  # no pattern says more than the ids themselves
            return covered + [(case, (case,)) for case in left]
        regex = compile_pattern(pattern)
        covered.append((pattern, tuple(case for case in left if regex.fullmatch(case))))
        left = [case for case in left if not regex.fullmatch(case)]
    return covered


def _generate_candidates(op: str, cases: Sequence[str]) -> dict[str, int]:
    """Patterns from the parts that ids share, each with its rank among equally wide ones."""
    ranks = {f"{op}[*": 0}
    ids = [case.partition("[")[2].removesuffix("]").split(";") for case in cases]
    shared = Counter(part for parts in ids for part in parts)
    for parts in ids:
        often = [i for i, part in enumerate(parts) if shared[part] > 1]
        for count in range(1, _MAX_PATTERN_PARTS + 1):
            for some in itertools.combinations(often, count):
                rank = sum(-1 if _SHAPE.fullmatch(parts[i]) else 1 for i in some)
                ranks |= dict.fromkeys(_make_patterns(op, parts, some), rank)
    return ranks


def _make_patterns(op: str, parts: Sequence[str], some: Sequence[int]) -> list[str]:
    """`some` of the parts of an id, each whole, anything between them; as they end the id, and with more behind."""
    text, last = f"{op}[", -1
    for i in some:
        text += "" if i == last + 1 == 0 else ";" if i == last + 1 else "*;" if last < 0 else ";*;"
        text, last = text + parts[i], i
    if parts[last] in DTYPES:  # no name of a dtype begins another's
        return [f"{text}]", f"{text}*"]
    return [f"{text}]" if last == len(parts) - 1 else f"{text};*"]


_BLANK = "  # say why this fails, and whose defect it is; opproof refuses an entry without a reason"

#: Where on this machine a package lies: of no interest in a file that others read.
_PLACE = re.compile(r"(?<=\()/\S*?/(?:site-packages/|(?=opproof/))")


def format_entry(patterns: Sequence[str], failures: Sequence[Result]) -> str:
    """The entry for failures of one backend, mode and verdict, its reason blank; in a comment, what it is made of."""
    first = failures[0]
    why = next((t for r in failures for t in (r.diagnosis, r.message) if t), "")
    example = " ".join(escape_unprintable(first.repro or first.case).split())
    rows = [f"# {format_count(len(failures), 'record')}, such as {example}"]
    rows += [f"# {_PLACE.sub('', format_line(why))[:200]}"] * bool(why)
    rows += ["[[known]]", f"patterns = {_format_list(patterns)}", f"backends = {_format_list([first.backend])}"]
    rows += [f'modes = ["{first.mode}"]', f'verdict = "{first.verdict}"']
    rows += [f"{name} = {_format_value(value)}" for name, value in asdict(limits_of(failures)).items() if value]
    rows.append(f'reason = ""{_BLANK}')
    return "\n".join(rows) + "\n"


def _format_list(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return f"[{_quote_text(texts[0])}]"
    return "[\n" + "".join(f"    {_quote_text(text)},\n" for text in texts) + "]"


def _format_value(value: float | bool) -> str:
    return "true" if value is True else f"{value:.12g}"


def _quote_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
