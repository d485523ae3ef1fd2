"""The soak that fixes the constant C: units of every operator over many seeds on honest backends.

    python benchmarks/soak.py --seeds 20 --ops relu,softmax --out docs/soak.md

Prints, per operator, the largest error of a record in units of honest rounding: the median over
records, the 99.9th percentile and the maximum, for f32 and for the 16-bit dtypes, and how many
records exceed each candidate constant (the false-alarm rate). Known failures of the backends
(their ledgers) are counted apart: they are defects, not rounding.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from tqdm import tqdm

from opproof.harness.compare import C
from opproof.harness.known import built_in, mark
from opproof.harness.plan import Selection, cases, tasks
from opproof.harness.pool import Limits, Pool
from opproof.reports import Result

BACKENDS = {"torch": ("f32", "f16", "bf16"), "numpy": ("f32",)}
CANDIDATES = (4, 6, 8, 10, 12, 16)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--ops", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    ops = tuple(n for n in options.ops.split(",") if n)
    results = measure(range(options.first, options.first + options.seeds), ops, options.jobs)
    text = report(results, options.seeds)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


def measure(seeds: range, ops: tuple[str, ...], jobs: int) -> list[Result]:
    """All results of all seeds; the ledgers' failures are marked."""
    found: list[Result] = []
    known = {b: built_in(b) for b in BACKENDS}
    with Pool(Limits(jobs, 60.0, 4 * 2**30)) as pool:
        for seed in seeds:
            for backend, dtypes in BACKENDS.items():
                selection = Selection(ops=ops, dtypes=dtypes, seed=seed)
                planned = tasks([backend], cases(selection), selection)
                bar = tqdm(pool.run(planned), total=len(planned), desc=f"seed {seed} {backend}", leave=False)
                found += [mark(r, known[backend]) for r in bar]
    return found


def _units(result: Result) -> float:
    return result.units if isinstance(result.units, float | int) else np.inf


def report(results: list[Result], seeds: int) -> str:
    """The page docs/soak.md."""
    judged = [r for r in results if r.units is not None and not r.known]
    defects = sum(1 for r in results if r.known)
    lines = [
        "# The soak",
        "",
        f"{len(judged):,} judged records of {len({r.op for r in judged})} operators, {seeds} seeds, on PyTorch (f32,",
        f"f16, bf16) and NumPy (f32); made by `benchmarks/soak.py`. {defects:,} records are known failures of PyTorch",
        "(`backends/known/torch.toml`) and not counted. A record's figure is the largest error of its elements, in",
        "units of honest rounding.",
        "",
        f"The constant is C = {C:g}. Records above each candidate, the false alarms it would have given:",
        "",
        "| C | records above | rate |",
        "| --- | --- | --- |",
    ]
    all_units = np.array([_units(r) for r in judged])
    for c in CANDIDATES:
        above = int(np.sum(all_units > c))
        lines.append(f"| {c} | {above} | {above / len(judged):.1e} |")
    largest = max(judged, key=_units)
    lines += [
        "",
        f"The largest is {_units(largest):.2f} ({largest.backend}, {largest.mode}, `{largest.case}`).",
        f"Where none of {len(judged):,} records is above a candidate, its false-alarm rate is below",
        f"{3 / len(judged):.0e} a record (95 % confidence, rule of three).",
    ]
    lines += [
        "",
        "## By operator",
        "",
        "| operator | dtype | records | median | 99.9 % | max |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for r in judged:
        groups[r.op, "f32" if r.dtype == "f32" else "f16, bf16"].append(_units(r))
    for (op, dtype), values in sorted(groups.items()):
        middle, high = np.quantile(values, [0.5, 0.999])
        lines.append(f"| {op} | {dtype} | {len(values)} | {middle:.2f} | {high:.2f} | {max(values):.2f} |")
    worst = sorted((r for r in judged if _units(r) > C), key=_units, reverse=True)
    if worst:
        lines += ["", f"## Above {C:g}", ""]
        lines += [f"- {_units(r):.3g}: {r.backend} {r.mode} `{r.case}`" for r in worst[:200]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
