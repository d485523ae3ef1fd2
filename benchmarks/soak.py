"""The soak behind the constant C: units of every operator over many seeds on honest backends.

    for seed in 0 1 2 3 4 5 6 7 8 9; do
        opproof run -b torch --dtype f32,f16,bf16 --seed $seed --out soak/torch-$seed
    done
    python benchmarks/soak.py soak/* > docs/soak.md

Reads the folders of such runs, of one library or several, and writes the page: how many records are above each
candidate constant (the false alarms that it would give), and the largest errors by operator. Cases that the
library's ledger covers (as it is now, not as it was at the run) show its defects, also where they pass, and are
counted apart.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from opproof.harness.judge.bound import C
from opproof.harness.ledger.chosen import built_in
from opproof.reports._kinds import severity
from opproof.reports._results import read_results

CANDIDATES = (4, 6, 8, 10, 12, 16)
WHY = """## Why 16

Honest arithmetic is not always careful: exp2 as exp(x ln 2) with the product rounded, five hundred gradients of one
element added up in 16 bits, an erf that is accurate absolutely. No user would thank us for calling these wrong, and
half of 16 would. The defects that C has to catch stand far above it: see the table of sums in [method.md](method.md).
"""
LARGEST = 20


class Record(NamedTuple):
    """What the page needs of one judged record."""

    units: float
    backend: str
    mode: str
    case: str
    op: str
    dtype: str


class Soak(NamedTuple):
    """The records of all runs; of each backend its version, its seeds and how many records its ledger covers."""

    records: dict[str, list[Record]]
    versions: dict[str, str]
    seeds: dict[str, set[int]]
    known: dict[str, int]


def main() -> None:
    print(page(read(map(Path, sys.argv[1:]))), end="")


def read(folders: Iterator[Path]) -> Soak:
    """All judged records of the runs in `folders`."""
    soak = Soak(defaultdict(list), {}, defaultdict(set), defaultdict(int))
    for folder in folders:
        header, results = read_results(folder)
        name, version = header.backends[0]["name"], header.backends[0]["version"]
        ledger = built_in(name)
        soak.versions[name] = version
        soak.seeds[name].add(header.options["selection"]["seed"])
        for r in results:
            if any(entry.covers(r) for entry in ledger):
                soak.known[name] += 1
            elif r.units is not None:
                soak.records[name].append(Record(severity(r.units), name, r.mode, r.case, r.op, r.dtype))
    return soak


def page(soak: Soak) -> str:
    """docs/soak.md."""
    everything = [r for records in soak.records.values() for r in records]
    largest = sorted(everything, key=lambda r: -r.units)[:LARGEST]
    above = sum(r.units > C for r in everything)
    lines = [
        "# The soak",
        "",
        f"{len(everything):,} judged records of {len({r.op for r in everything})} operators in f32, f16 and bf16,",
        "the whole standard level with several seeds, on libraries of others; made by `benchmarks/soak.py`.",
        "Cases that the ledgers in `backends/*/known.toml` cover show defects, pass or fail, and are not counted.",
        "A record's figure is the largest error of its elements, in units of honest rounding: [method.md](method.md).",
        "",
        "| library | seeds | judged records | left out | largest |",
        "| --- | --- | ---: | ---: | ---: |",
        *(
            f"| {name} {soak.versions[name]} | {_seeds(soak.seeds[name])} | {len(records):,} | {soak.known[name]:,} "
            f"| {max(r.units for r in records):.1f} |"
            for name, records in sorted(soak.records.items())
        ),
        "",
        f"The constant is C = {C:g}. Records above each candidate, the false alarms it would have given:",
        "",
        f"| C | {' | '.join(sorted(soak.records))} | all | rate |",
        f"| --- |{' ---: |' * (len(soak.records) + 2)}",
        *(_candidate(c, soak, len(everything)) for c in CANDIDATES),
        "",
        f"{above or 'None'} of {len(everything):,} is above C"
        + ("." if above else f": the false-alarm rate is below {3 / len(everything):.0e} a record (95 % confidence)."),
        "",
        WHY,
        f"## The {LARGEST} largest",
        "",
        *(f"- {r.units:.1f}: {r.backend}, {r.mode}, `{r.case}`" for r in largest),
        "",
        "## By operator",
        "",
        "The median, the 99.9th percentile and the largest.",
        "",
        "| operator | records | f32 | | | f16, bf16 | | |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *_by_operator(everything),
    ]
    return "\n".join(lines) + "\n"


def _seeds(seeds: set[int]) -> str:
    return (
        f"{min(seeds)}–{max(seeds)}"
        if len(seeds) == max(seeds) - min(seeds) + 1
        else ", ".join(map(str, sorted(seeds)))
    )


def _candidate(c: int, soak: Soak, total: int) -> str:
    counts = [sum(r.units > c for r in soak.records[name]) for name in sorted(soak.records)]
    return f"| {c} | {' | '.join(map(str, counts))} | {sum(counts)} | {sum(counts) / total:.1e} |"


def _by_operator(records: list[Record]) -> Iterator[str]:
    groups: dict[str, dict[bool, list[float]]] = defaultdict(lambda: {True: [], False: []})
    for r in records:
        groups[r.op][r.dtype == "f32"].append(r.units)
    for op, of in sorted(groups.items()):
        yield f"| {op} | {len(of[True]) + len(of[False]):,} | {_figures(of[True])} | {_figures(of[False])} |"


def _figures(units: list[float]) -> str:
    if not units:
        return "| |"
    middle, high = np.quantile(units, [0.5, 0.999])
    return f"{middle:.2f} | {high:.2f} | {max(units):.2f}"


if __name__ == "__main__":
    main()
