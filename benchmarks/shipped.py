"""Would opproof have found the bugs that projects shipped? Each is asked at the standard level of its operator.

    python benchmarks/shipped.py [--only WORD] [--page docs/shipped.md]

--only keeps bugs with WORD in their operator or link. Without --page the table is printed.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from opproof.backends.loaded import settle
from opproof.cases import cases_of
from opproof.harness.run.attempt import attempt
from opproof.harness.run.hosts.inside import Inside
from opproof.harness.run.record import record
from opproof.harness.run.task import Task
from opproof.reference_ops import load
from opproof.vocabulary.verdicts import FAILED

sys.path.insert(0, str(Path(__file__).parent / "shipped"))
FAMILIES = ("layouts", "norms", "attention", "products", "windows", "reductions", "pointwise", "training")
BUGS = [bug for family in FAMILIES for bug in importlib.import_module(family).BUGS]
APART = importlib.import_module("apart").APART
Shipped = importlib.import_module("bug").Shipped


class Found(NamedTuple):
    """What the standard level says of one bug."""

    bug: Any
    verdicts: Counter[str]
    asked: int
    said: str  # the diagnosis that most records have


def found(bug: Any, level: str = "standard") -> Found:
    """The bug's operator in its mode and dtypes, at seed 0."""
    host, op = Inside(settle(Shipped(bug=bug), "shipped")), load(bug.op)
    verdicts: Counter[str] = Counter()
    said: Counter[str] = Counter()
    asked = 0
    for case in cases_of(bug.op, level):
        if case.dtype not in bug.dtypes.split(","):
            continue
        task = Task("shipped", str(case), bug.mode)
        result = record(task, attempt(host, task, op, math.inf))
        asked += 1
        if result.verdict in FAILED:
            verdicts[str(result.verdict)] += 1
            said[result.diagnosis] += 1
    return Found(bug, verdicts, asked, said.most_common(1)[0][0] if said else "")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    for bug in BUGS:
        if options.only in f"{bug.op} {bug.link}":
            one = found(bug)
            verdicts = ", ".join(f"{v} {n}" for v, n in one.verdicts.items()) or "MISSED"
            print(f"{bug.op} | {bug.link} | {bug.what} | {verdicts} of {one.asked} | {one.said}", flush=True)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
