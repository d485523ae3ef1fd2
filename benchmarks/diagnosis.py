"""How often the diagnosis is right, silent or wrong on planted defects: a table by defect.

    python benchmarks/diagnosis.py [--count 10] [--wrong] [--silent] [--only NAME]

--count is the number of cases a defect; --wrong and --silent print each such case. A case has nothing to tell its
defect by where the answer holds less than 10 bits (a place: 7), whoever asks (`bits_of` in tests/_planted.py): one
number in bfloat16, one wrong element of nine. Silence is right there, a wrong sentence is wrong.
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
        scant = sum(f.scant for f in found)
        wrong = len(found) - right - silent
        share = f"{right / (len(found) - scant):.0%}" if len(found) > scant else ""
        rows.append([defect.name, len(found), right, wrong, silent - scant, scant, share])
        said += [f for f in found if not f.right and not f.scant and (options.silent if f.silent else options.wrong)]
    if not rows:
        sys.exit(f"no defect has {options.only!r} in its name; there are {', '.join(d.name for d in DEFECTS)}.")
    total = [sum(column) for column in list(zip(*rows, strict=True))[1:6]]
    cases, right, wrong, silent, scant = total
    n = max(cases - scant, 1)
    headers = ["defect", "cases", "right", "wrong", "silent", "nothing to tell it by", "share"]
    print(tabulate([*rows, ["all", *total, f"{right / n:.0%}"]], headers=headers))
    print(
        f"\nright {right / n:.1%}, silent {silent / n:.1%}, wrong {wrong / n:.1%} of {n} planted defects "
        f"that can be told; silent at {scant} more that cannot"
    )
    print(f"{time.perf_counter() - started:.1f} s")
    for f in said:
        print(f"{f.defect.name}: {f.case} {f.mode}: {f.label}: {f.sentence}")


if __name__ == "__main__":
    main()
