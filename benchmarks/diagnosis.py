"""How often the diagnosis is right, silent or wrong on planted defects: a table by defect.

    python benchmarks/diagnosis.py [--count 10] [--wrong] [--silent] [--only NAME]

--count is the number of cases a defect; --wrong and --silent print each such case.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from _planted import DEFECTS, findings


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--silent", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    rows, said, started = [], [], time.perf_counter()
    for defect in DEFECTS:
        if options.only not in defect.name:
            continue
        found = list(findings(defect, options.count))
        right, silent = sum(f.right for f in found), sum(f.silent for f in found)
        rows.append([defect.name, len(found), right, silent, len(found) - right - silent])
        said += [f for f in found if not f.right and (options.silent if f.silent else options.wrong)]
    if not rows:
        sys.exit(f"no defect has {options.only!r} in its name; there are {', '.join(d.name for d in DEFECTS)}.")
    total = ["all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])]
    print(tabulate([*rows, total], headers=["defect", "cases", "right", "silent", "wrong"]))
    n = max(total[1], 1)
    print(
        f"\nright {total[2] / n:.1%}, silent {total[3] / n:.1%}, wrong {total[4] / n:.1%} of {total[1]} planted defects"
    )
    print(f"{time.perf_counter() - started:.1f} s")
    for f in said:
        print(f"{f.defect.name}: {f.case} {f.mode}: {f.label}: {f.sentence}")


if __name__ == "__main__":
    main()
