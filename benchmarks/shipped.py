"""Would opproof have found the bugs that projects shipped? Each is asked at the standard level of its operator.

    python benchmarks/shipped.py [--only WORD] [--page docs/explanation/shipped.md]

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
from collections.abc import Iterator
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


def row(one: Found) -> str:
    """A row of the page: what was wrong, by which verdicts it was found, and what most of the records say."""
    bug = one.bug
    verdicts = ", ".join(f"{name} {n}" for name, n in one.verdicts.most_common()) or "**missed**"
    since = ", since rows were added" if one.verdicts and (bug.op, bug.link) in TOLD.MENDED else ""
    where = f"{'gradient, ' if bug.mode == 'gradient' else ''}{bug.dtypes.replace(',', ' ')}"
    said = one.said.replace("|", "\\|")
    return f"| {bug.op} | {bug.what} | {where} | {verdicts} of {one.asked}{since} | {said} | {link(bug.link)} |"


def link(thread: str) -> str:
    owner, name, _, number = thread.split("/")
    return f"[{name} {number}](https://github.com/{owner}/{thread.partition('/')[2]})"


#: Bugs that came to the list after the first were asked.
LATER = 10


def page(asked: list[Found]) -> Iterator[str]:
    """The lines of docs/explanation/shipped.md."""
    known = {(one.bug.op, one.bug.link) for one in asked if one.verdicts}
    missed = [one for one in asked if not one.verdicts]
    mended = len([one for one in asked if one.verdicts and (one.bug.op, one.bug.link) in TOLD.MENDED & known])
    total = len(asked) + len(TOLD.APART)
    projects = {"/".join(bug.link.split("/")[:2]) for bug in [*(one.bug for one in asked), *TOLD.APART]}
    yield "# Bugs that shipped\n"
    yield "Written by `benchmarks/shipped.py --page docs/explanation/shipped.md`; do not edit.\n"
    yield (
        f"{total} bugs of operators, mined from threads of {len(projects)} repositories, all but {LATER} of them "
        f"listed before any was asked. {len(asked)} can be expressed as a backend that is right in all else; the "
        f"standard level at seed 0 finds {len(asked) - len(missed)} of them, {mended} only since rows for their "
        f"classes were added, and misses {len(missed)}; {len(TOLD.APART)} cannot be shown. Each stands in "
        "`benchmarks/shipped/`, as narrow as its thread tells it: the case, the dtypes and the mode that had it. What "
        "a kernel reads past the end of a tensor is a guess; where it happens is not. Records count those of the bug's "
        "mode and dtypes; the sentence is what most of the failing ones say.\n"
    )
    yield "| operator | what it did instead | where | found | diagnosis | thread |"
    yield "| --- | --- | --- | --- | --- | --- |"
    yield from map(row, asked)
    yield "\n## Missed\n\n| operator | what it did instead | why it passes | thread |\n| --- | --- | --- | --- |"
    for one in missed:
        why = TOLD.MISSED.get((one.bug.op, one.bug.link), "not looked into")
        yield f"| {one.bug.op} | {one.bug.what} | {why} | {link(one.bug.link)} |"
    yield "\n## Not asked\n\n| operator | what it did instead | what is missing | thread |\n| --- | --- | --- | --- |"
    for bug in TOLD.APART:
        yield f"| {bug.op} | {bug.what} | {bug.why} | {link(bug.link)} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a wrong formula may overflow, and NumPy says so
    started, asked = time.perf_counter(), []
    for bug in BUGS:
        if options.only in f"{bug.op} {bug.link}":
            asked.append(found(bug))
            print(row(asked[-1]), flush=True)
    print(f"{len([one for one in asked if one.verdicts])} of {len(asked)} found, {time.perf_counter() - started:.0f} s")
    if options.page:
        options.page.write_text("\n".join(page(asked)) + "\n")


if __name__ == "__main__":
    main()
