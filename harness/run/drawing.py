"""A run that draws its cases from the spaces of operators until its time is up.

The draws of a seed are the same on every machine, however many of them there is time for.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from opproof.cases import Case
from opproof.core.errors import UsageError
from opproof.core.verdicts import Verdict
from opproof.harness.run.plan import Selection, make_keyword_filter, make_tasks, select_operators
from opproof.harness.run.task import Task
from opproof.harness.space.stream import draw_on
from opproof.reports import Result

#: Cases that are drawn while those before them run; the first of them run whatever the time.
CASES_AT_ONCE = 64
#: Records of an operator that are all declined, after which no more of its cases are drawn.
MAX_DECLINED = 6


def draw_cases(selection: Selection, declined: Collection[str]) -> Iterator[Case]:
    """Cases of the operators asked for, but for those `declined`, in the order of seed and shard. Raises UsageError."""
    if selection.cases or selection.case_files or selection.level != "standard" or selection.wrong_calls:
        raise UsageError("--for draws cases of its own; leave out --case, --cases, --level and --wrong-calls.")
    matches = make_keyword_filter(selection.keyword)

    def accepts(case: Case) -> bool:
        return (not selection.dtypes or case.dtype in selection.dtypes) and matches(str(case))

    drawn = draw_on(select_operators(selection), f"{selection.seed} {selection.shard}", accepts, declined)
    return (case.with_seed(selection.seed) if selection.seed else case for case in drawn)


def draw_task_lists(
    backends: Sequence[str], selection: Selection, rules: dict[str, object], declined: Collection[str]
) -> Iterator[list[Task]]:
    """The tasks of the cases drawn, some at a time, without end."""
    cases, whole = draw_cases(selection, declined), replace(selection, shard="")
    while some := list(itertools.islice(cases, CASES_AT_ONCE)):
        yield make_tasks(backends, some, whole, **rules)


def iterate_ahead(lists: Iterator[list[Task]], deadline: float) -> Iterator[list[Task]]:
    """The lists until the deadline, each drawn while the one before it runs."""
    with ThreadPoolExecutor(1) as executor:
        following = executor.submit(next, lists, None)
        while time.monotonic() < deadline and (some := following.result()) is not None:
            following = executor.submit(next, lists, None)
            yield some


@dataclass
class DeclinedOperators:
    """Which operators no backend takes on, by the records so far."""

    names: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def note(self, result: Result) -> None:
        """Count a record: one that is answered says that its operator is taken on."""
        if result.verdict != Verdict.UNSUPPORTED:
            self.answered.add(result.op)
        self.counts[result.op] += 1
        if result.op not in self.answered and self.counts[result.op] >= MAX_DECLINED:
            self.names.add(result.op)


def keep_cases(path: Path, cases: Iterable[str]) -> int:
    """Add the cases to a file of ids that has them not yet, and return how many these are. Raises UsageError."""
    try:
        known = set(path.read_text(encoding="utf-8").split("\n")) if path.exists() else set()
        fresh = [case for case in dict.fromkeys(cases) if case not in known]
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{case}\n" for case in fresh)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot add cases to {path}: {reason}; give another file with --keep.") from None
    return len(fresh)
