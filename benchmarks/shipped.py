"""Would opproof have found the bugs that projects shipped? Each is asked at the standard level of its operator.

    python benchmarks/shipped.py [--only WORD] [--json docs/data/shipped.json]

--only keeps bugs with WORD in their operator or link. --json keeps what was found for docs/explanation/shipped.md.
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

from opproof.backends.loaded import resolve_members
from opproof.cases import cases_of
from opproof.core.text import dump_json
from opproof.core.verdicts import FAILED
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import InProcessHost
from opproof.harness.run.record import record
from opproof.harness.run.task import Task
from opproof.reference_ops import load

sys.path.insert(0, str(Path(__file__).parent / "shipped"))
FAMILIES = (
    "layouts", "norms", "attention", "products", "windows", "reductions", "pointwise", "training", "together",
    "backward", "corners", "derivatives", "conditions", "after", "cotangents", "crossed",
)  # fmt: skip
BUGS = [bug for family in FAMILIES for bug in importlib.import_module(family).BUGS]
TOLD = importlib.import_module("not_shown")
Shipped = importlib.import_module("bug").Shipped


class Found(NamedTuple):
    """What the standard level says of one bug."""

    bug: Any
    verdicts: Counter[str]
    asked: int
    said: str  # the diagnosis that most records have


def found(bug: Any, level: str = "standard") -> Found:
    """The bug's operator in its mode and dtypes, at seed 0."""
    host, op = InProcessHost(resolve_members(Shipped(bug=bug), "shipped")), load(bug.op)
    verdicts: Counter[str] = Counter()
    said: Counter[str] = Counter()
    asked = 0
    for case in cases_of(bug.op, level):
        if case.dtype not in bug.dtypes.split(","):
            continue
        task = Task("shipped", str(case), bug.mode)
        result = record(task, run_task(host, task, op, math.inf))
        asked += 1
        if result.verdict in FAILED:
            verdicts[str(result.verdict)] += 1
            said[result.diagnosis] += 1
    return Found(bug, verdicts, asked, said.most_common(1)[0][0] if said else "")


#: Bugs that came to the list after the first were asked.
LATER = 10


def row(one: Found) -> dict[str, Any]:
    """Return what is kept of a bug: what was wrong, which verdicts found it, what most records say."""
    bug = one.bug
    return {
        "operator": bug.op,
        "what": bug.what,
        "mode": str(bug.mode),
        "dtypes": bug.dtypes.split(","),
        "verdicts": dict(one.verdicts.most_common()),
        "asked": one.asked,
        "since": bool(one.verdicts) and (bug.op, bug.link) in TOLD.MENDED,
        "diagnosis": one.said,
        "thread": bug.link,
    }


def summary(asked: list[Found]) -> dict[str, Any]:
    """Return what the page shows."""
    missed = [one.bug for one in asked if not one.verdicts]
    return {
        "listed_later": LATER,
        "found": [row(one) for one in asked],
        "missed": [_told(bug, TOLD.MISSED.get((bug.op, bug.link), "not looked into")) for bug in missed],
        "not_asked": [_told(bug, bug.why) for bug in TOLD.APART],
    }


def _told(bug: Any, why: str) -> dict[str, str]:
    return {"operator": bug.op, "what": bug.what, "why": why, "thread": bug.link}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a wrong formula may overflow, and NumPy says so
    started, asked = time.perf_counter(), []
    for bug in BUGS:
        if options.only in f"{bug.op} {bug.link}":
            asked.append(found(bug))
            verdicts = ", ".join(f"{name} {n}" for name, n in asked[-1].verdicts.most_common()) or "missed"
            print(f"{bug.op}, {bug.what}: {verdicts} of {asked[-1].asked} ({bug.link})", flush=True)
    print(f"{len([one for one in asked if one.verdicts])} of {len(asked)} found, {time.perf_counter() - started:.0f} s")
    if options.json:
        options.json.write_text(dump_json(summary(asked)), encoding="utf-8")


if __name__ == "__main__":
    main()
