"""The false-alarm study behind the constants of the bound: every operator over many seeds on libraries of others.

    for seed in 0 1 2 3 4 5 6 7 8 9; do
        opproof run -b torch -b mlx -b benchmarks/soak/on_paddle.py --dtype f32,f16,bf16 --seed $seed --out soak/$seed
    done
    python benchmarks/soak.py soak/* > docs/data/soak.json

Reads the folders of such runs, of one library or several, and counts them for docs/explanation/false-alarms.md. Every
judged record counts, also those that a ledger explains. What is above the constants is listed in full, each as a defect
or a false alarm, as soak/classes.toml says. Exit status 1 where that says nothing of a record, which is listed as not
classified; 2 where a folder or the file of classes cannot be read.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from opproof.core.errors import BadInput
from opproof.core.text import dump_json, round_figure
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.array_statistics import BIAS, RMS
from opproof.harness.judge.bound import STORED, C
from opproof.harness.known_failures.known import read_entries
from opproof.reports import Result
from opproof.reports._kinds import severity_of
from opproof.reports._results import read_results

CLASSES = Path(__file__).with_name("soak") / "classes.toml"
CANDIDATES = {"C": (8.0, 12.0, 16.0, 24.0), "RMS": (1.5, 2.0, 2.5, 3.0), "bias": (0.75, 1.0, 1.5, 2.0)}
CHOSEN = {"C": C, "RMS": RMS, "bias": BIAS}
#: Of a distribution: median, 90 %, 99 %, 99.9 % and the largest.
QUANTILES = (0.5, 0.9, 0.99, 0.999, 1.0)


class Kind(StrEnum):
    """What a record above the constants is."""

    DEFECT = "defect"
    FALSE_ALARM = "false alarm"


@dataclass(frozen=True)
class Class:
    """An entry of classes.toml: records above the constants, and what they are. Raises ValueError without a word."""

    backend: str  # the library's name; in it and in patterns * matches anything, all else is literal
    patterns: tuple[str, ...]  # of case ids
    kind: Kind
    sentence: str  # of a defect what a user of the library sees, of a false alarm why the answer is honest
    mode: Mode | None = None  # both

    def __post_init__(self) -> None:
        if not self.sentence.strip() or not self.patterns:
            raise ValueError("patterns or sentence is empty; say which records they are, and what a user sees")

    def covers(self, backend: str, record: Result) -> bool:
        """Whether the entry speaks of this record."""
        return (
            _matches(self.backend, backend)
            and self.mode in (None, record.mode)
            and any(_matches(pattern, record.case) for pattern in self.patterns)
        )


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None


@dataclass
class Library:
    """The judged records of all runs of one library."""

    version: str = ""
    seeds: set[int] = field(default_factory=set)
    records: list[Result] = field(default_factory=list)


def main() -> int:
    try:
        libraries = read(map(Path, sys.argv[1:]))
        classes = read_entries(CLASSES, "class", Class)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    print(dump_json(summary(libraries, classes)), end="")
    return int(any(class_of(classes, name, r) is None for name, r in above(libraries)))


def read(folders: Iterable[Path]) -> dict[str, Library]:
    """All judged records of the runs in `folders`, by library."""
    libraries: dict[str, Library] = defaultdict(Library)
    for folder in folders:
        header, results = read_results(folder)
        called = {b.get("spec", b["name"]): b["name"] for b in header.backends}
        for backend in header.backends:
            libraries[backend["name"]].version = backend["version"]
            libraries[backend["name"]].seeds.add(header.options["selection"]["seed"])
        for r in results:
            if r.units is not None or r.verdict in WRONG:
                libraries[called.get(r.backend, header.backends[0]["name"])].records.append(r)
    return dict(sorted(libraries.items()))


def above(libraries: dict[str, Library]) -> Iterator[tuple[str, Result]]:
    """The records above the constants, each with its library's name."""
    return ((name, r) for name, library in libraries.items() for r in library.records if r.verdict in WRONG)


def class_of(classes: Sequence[Class], backend: str, record: Result) -> Class | None:
    """The first entry that speaks of the record; else the defect that a ledger has found behind it."""
    entry = next((c for c in classes if c.covers(backend, record)), None)
    if entry is None and record.known:
        return Class(backend, ("*",), Kind.DEFECT, record.known)
    return entry


def fails(record: Result, constant: str, value: float) -> bool:
    """Whether the record would be above this constant, were it `value`: C, RMS or bias.

    The worst element alone is in the record. Of its limit, STORED + (C - STORED) share, the share stays.
    """
    if constant == "RMS":
        return record.rms is not None and not record.rms <= value
    if constant == "bias":
        return record.bias is not None and not abs(record.bias) <= value
    if record.nonfinite or record.units is None or not record.limit:  # a matter of no constant
        return record.verdict in WRONG and not (record.units is not None and record.limit and not record.nonfinite)
    share = min(max((record.limit - STORED) / (C - STORED), 0.0), 1.0)
    return severity_of(record.units) > STORED + (value - STORED) * share


def summary(libraries: dict[str, Library], classes: Sequence[Class]) -> dict[str, Any]:
    """Return what the page shows, as docs/data/soak.json holds it."""
    listed = [(name, r, class_of(classes, name, r)) for name, r in above(libraries)]
    return {
        "constants": CHOSEN,
        "operators": len({r.op for library in libraries.values() for r in library.records}),
        "libraries": [
            _library(name, library, [c for n, _, c in listed if n == name]) for name, library in libraries.items()
        ],
        "candidates": [
            {"constant": name, "value": value, "failing": _failing(name, value, libraries)}
            for name, values in CANDIDATES.items()
            for value in values
        ],
        "distributions": [*_distributions(libraries)],
        "above": [*_groups(listed)],
    }


def _library(name: str, library: Library, found: Sequence[Class | None]) -> dict[str, Any]:
    kinds = [None if c is None else c.kind for c in found]
    return {
        "library": name,
        "version": library.version,
        "seeds": sorted(library.seeds),
        "records": len(library.records),
        "above": len(found),
        "defects": kinds.count(Kind.DEFECT),
        "false_alarms": kinds.count(Kind.FALSE_ALARM),
        "not_classified": kinds.count(None),
    }


def _failing(constant: str, value: float, libraries: dict[str, Library]) -> dict[str, int]:
    """Count the records of each library that would fail at another constant."""
    return {name: sum(fails(r, constant, value) for r in one.records) for name, one in libraries.items()}


def _distributions(libraries: dict[str, Library]) -> Iterator[dict[str, Any]]:
    for name, library in libraries.items():
        passed = [r for r in library.records if r.verdict is Verdict.PASS]
        for dtype in dict.fromkeys(r.dtype for r in passed):
            of = [r for r in passed if r.dtype == dtype]
            figures = {
                "units": [severity_of(r.units) for r in of],
                "RMS": [r.rms for r in of if r.rms is not None],
                "bias": [abs(r.bias) for r in of if r.bias is not None],
            }
            for figure, values in figures.items():
                if values:
                    about = {"library": name, "dtype": dtype, "figure": figure, "records": len(values)}
                    yield {**about, "quantiles": [round(float(q), 2) for q in np.quantile(values, QUANTILES)]}


def _groups(listed: Sequence[tuple[str, Result, Class | None]]) -> Iterator[dict[str, Any]]:
    """Yield what is above the constants by library and class, its records, the largest error first."""
    groups: dict[tuple[str, Class | None], list[Result]] = defaultdict(list)
    for name, r, found in listed:
        groups[name, found].append(r)
    for (name, found), records in sorted(groups.items(), key=lambda g: (g[0][0], g[0][1] is not None)):
        about = {"kind": found and str(found.kind), "sentence": found and found.sentence}
        ordered = sorted(records, key=lambda r: -severity_of(r.units))
        yield {"library": name, **about, "records": [[*_figures(r), str(r.mode), r.case] for r in ordered]}


def _figures(r: Result) -> list[float | str]:
    """Return units and limit, with RMS and bias where there are some; of elements that are not finite their count."""
    if r.nonfinite:
        return [r.nonfinite]
    whole = [] if r.rms is None or r.bias is None else [round(r.rms, 2), round(r.bias, 2)]
    return [round_figure(one, 3) for one in (severity_of(r.units), r.limit or 0.0)] + whole


if __name__ == "__main__":
    sys.exit(main())
