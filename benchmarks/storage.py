"""Which operators of a backend store intermediates in the 16-bit dtype: measured, for its `compute`.

    python benchmarks/storage.py -b torch --seeds 3

Every 16-bit record is judged twice, once with interior float32 and once with interior storage.
An operator belongs on the list when the first judgement fails somewhere where the second does not.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict

from opproof.cases import cases_of
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.run.attempt import attempt
from opproof.harness.run.hosts import inside
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.plan import has_gradient
from opproof.harness.run.task import Task
from opproof.reference_ops import load, names


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-b", "--backend", default="torch")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ops", default="")
    options = parser.parse_args()
    host = inside.start(options.backend)
    ops = options.ops.split(",") if options.ops else names()
    counts: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0, 0, 0.0, 0.0])
    left: list[str] = []
    for name in ops:
        for seed in range(options.seeds):
            _operator(host, name, seed, counts, left)
    print(f"{'operator':24s} mode      records  float32 fails  storage fails  largest under storage")
    for (name, mode), (total, wide, narrow, _, largest) in sorted(counts.items()):
        if wide:
            print(f"{name:24s} {mode:9s} {total:7.0f} {wide:14.0f} {narrow:14.0f} {largest:22.2f}")
    for mode in ("forward", "gradient"):
        chosen = sorted(n for (n, m), (_, wide, narrow, *_) in counts.items() if m == mode and wide > narrow)
        print(f"\n{mode}: {' '.join(chosen)}")
    print("\nfailing either way:", *left, sep="\n")


def _operator(host: Host, name: str, seed: int, counts: dict[tuple[str, str], list[float]], left: list[str]) -> None:
    op = load(name)
    for case in (c.with_seed(seed) for c in cases_of(name) if c.dtype in ("f16", "bf16")):
        for mode in ("forward", "gradient"):
            if mode == "gradient" and not has_gradient(case, op):
                continue
            made = attempt(host, Task("", str(case), mode), op, math.inf, alone=True)
            if made.posed is None or made.answer is None:
                continue
            count = counts[name, mode]
            count[0] += 1
            wide = judge(made.posed, made.answer, Rules())
            if not wide.verdict.startswith("WRONG"):
                continue
            count[1] += 1
            narrow = judge(made.posed, made.answer, Rules(declared="storage"))
            if narrow.verdict.startswith("WRONG"):
                count[2] += 1
                left.append(f"{narrow.units:.3g} units  {mode}  {case}  {narrow.worst}")
            elif narrow.units is not None:
                count[4] = max(count[4], narrow.units)


if __name__ == "__main__":
    main()
