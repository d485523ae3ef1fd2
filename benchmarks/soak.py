"""The soak behind the constants of the bound: every operator over many seeds on libraries of others.

    for seed in 0 1 2 3 4 5 6 7 8 9; do
        opproof run -b torch -b mlx -b benchmarks/soak/on_paddle.py --dtype f32,f16,bf16 --seed $seed --out soak/$seed
    done
    python benchmarks/soak.py soak/* > docs/soak.md

Reads the folders of such runs, of one library or several, and writes the page. Every judged record counts, also those
that a ledger explains. What is above the constants is listed in full, each as a defect or a false alarm, as
soak/classes.toml says. Exit status 1 where that says nothing of a record, which the page lists as not classified;
2 where a folder or the file of classes cannot be read.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

import numpy as np

from opproof.harness.judge.bound import STORED, C
from opproof.harness.judge.figures import BIAS, RMS
from opproof.harness.ledger.entries import read_entries
from opproof.reports import Result
from opproof.reports._kinds import severity
from opproof.reports._results import read_results
from opproof.vocabulary.errors import BadInput
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import WRONG, Verdict

CLASSES = Path(__file__).with_name("soak") / "classes.toml"
CANDIDATES = {"C": (8.0, 12.0, 16.0, 24.0), "RMS": (1.5, 2.0, 2.5, 3.0), "bias": (0.75, 1.0, 1.5, 2.0)}
CHOSEN = {"C": C, "RMS": RMS, "bias": BIAS}
QUANTILES = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "99.9 %": 0.999, "largest": 1.0}


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
    print(page(libraries, classes), end="")
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
    return severity(record.units) > STORED + (value - STORED) * share


def page(libraries: dict[str, Library], classes: Sequence[Class]) -> str:
    """docs/soak.md."""
    everything = [r for library in libraries.values() for r in library.records]
    listed = [(name, r, class_of(classes, name, r)) for name, r in above(libraries)]
    false = sum(c is not None and c.kind is Kind.FALSE_ALARM for _, _, c in listed)
    open_ = sum(c is None for _, _, c in listed)
    lines = [
        "# The soak",
        "",
        f"{len(everything):,} judged records of {len({r.op for r in everything})} operators, the whole standard level,",
        "on libraries of others and on honest textbook kernels; made by `benchmarks/soak.py`. Every record counts,",
        "also those that a ledger explains. What the figures mean: [method.md](explanation/method.md).",
        "",
        "| library | seeds | judged records | above the constants | defects | false alarms | not classified |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
        *(_library(name, libraries[name], [c for n, _, c in listed if n == name]) for name in libraries),
        "",
        f"The constants are {', '.join(f'{name} = {value:g}' for name, value in CHOSEN.items())}. "
        f"False alarms: {false} of {len(everything):,}, {_rate(false, len(everything))}."
        + (f" {open_} are not classified." if open_ else ""),
        "",
        "## At other constants",
        "",
        "How many records would fail, all else as it is. (Of a record the worst element is known.) Non-finite elements",
        "and results to be met bit for bit are a matter of no constant: they fail at every C.",
        "",
        f"| constant | {' | '.join(libraries)} | all |",
        f"| --- |{' ---: |' * (len(libraries) + 1)}",
        *(_candidate(name, value, libraries) for name, values in CANDIDATES.items() for value in values),
        "",
        "## Distributions",
        "",
        "Of what passes; units are the largest of a record's elements, of RMS and bias its arrays'.",
        "",
        f"| library | dtype | figure | records | {' | '.join(QUANTILES)} |",
        f"| --- | --- | --- | ---: |{' ---: |' * len(QUANTILES)}",
        *_distributions(libraries),
        "",
        "## Above the constants",
        "",
        *_listed(listed),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _rate(count: int, total: int) -> str:
    """The rate, and where there is none, below what it is with 95 % confidence."""
    if not total:
        return "of nothing"
    return f"{count / total:.1e} a record" if count else f"below {3 / total:.0e} a record (95 % confidence)"


def _library(name: str, library: Library, found: Sequence[Class | None]) -> str:
    counts = [sum(c is not None and c.kind is kind for c in found) for kind in Kind]
    cells = [f"{n:,}" for n in (len(library.records), len(found), *counts, found.count(None))]
    return f"| {name} {library.version} | {_seeds(library.seeds)} | {' | '.join(cells)} |"


def _seeds(seeds: set[int]) -> str:
    ordered = sorted(seeds)
    together = len(ordered) > 1 and all(b == a + 1 for a, b in pairwise(ordered))
    return f"{ordered[0]}–{ordered[-1]}" if together else ", ".join(map(str, ordered))


def _candidate(constant: str, value: float, libraries: dict[str, Library]) -> str:
    counts = [sum(fails(r, constant, value) for r in library.records) for library in libraries.values()]
    return f"| {constant} {value:g} | {' | '.join(f'{n:,}' for n in (*counts, sum(counts)))} |"


def _distributions(libraries: dict[str, Library]) -> Iterator[str]:
    for name, library in libraries.items():
        passed = [r for r in library.records if r.verdict is Verdict.PASS]
        for dtype in dict.fromkeys(r.dtype for r in passed):
            of = [r for r in passed if r.dtype == dtype]
            figures = {
                "units": [severity(r.units) for r in of],
                "RMS": [r.rms for r in of if r.rms is not None],
                "bias": [abs(r.bias) for r in of if r.bias is not None],
            }
            for figure, values in figures.items():
                if values:
                    shown = " | ".join(f"{q:.2f}" for q in np.quantile(values, list(QUANTILES.values())))
                    yield f"| {name} | {dtype} | {figure} | {len(values):,} | {shown} |"


def _listed(listed: Sequence[tuple[str, Result, Class | None]]) -> Iterator[str]:
    """By library and class: what it is, and its records, the largest error first."""
    groups: dict[tuple[str, Class | None], list[Result]] = defaultdict(list)
    for name, r, found in listed:
        groups[name, found].append(r)
    for (name, found), records in sorted(groups.items(), key=lambda g: (g[0][0], g[0][1] is not None)):
        heading = "not classified" if found is None else f"{found.kind}: {found.sentence}"
        yield from (f"**{name}, {heading}** ({len(records):,})", "")
        for r in sorted(records, key=lambda r: -severity(r.units)):
            yield f"- {_figures(r)}, {r.mode}, `{r.case}`"
        yield ""


def _figures(r: Result) -> str:
    if r.nonfinite:
        return f"{r.nonfinite} not finite"
    whole = "" if r.rms is None or r.bias is None else f", RMS {r.rms:.2f}, bias {r.bias:+.2f}"
    return f"{severity(r.units):.3g} units of {r.limit or 0:.3g}{whole}"


if __name__ == "__main__":
    sys.exit(main())
