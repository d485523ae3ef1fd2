"""Neighbours of failing cases, called after a run: the smallest that fails alike, and what a case needs to fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opproof.cases import Case
from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.known_failures.known import Known, mark
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.results.file import key_of
from opproof.harness.run.scheduler import Judges
from opproof.harness.run.task import Task
from opproof.harness.space.delta import OutOfCallsError, find_delta
from opproof.harness.space.shrink import shrink
from opproof.reports import Result
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports.causes import find_causes

#: Seconds after which a failing case is not made smaller any more, and causes of which a case is.
SHRINK_SECONDS = 15.0
MAX_SHRUNK = 8
#: Seconds that calls and their judging may take until a cause is narrowed to the levels that it needs, and all causes.
MAX_DELTA_SECONDS = 5.0
MAX_SECONDS_OF_DELTAS = 60.0
#: Failures whose neighbours take a minute, or all memory, each.
_SLOW = {Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY}
#: What a record says of its case: whether it fails. Others, as of what is declined or known, say nothing.
_FAILS = {ResultKind.FAILED: True, ResultKind.PASSED: False}


def shrink_failures(pool: Judges, results: Iterable[Result], tasks: Iterable[Task]) -> list[Task]:
    """The smallest task of each operator, mode and verdict that fails and no list knows, the first ones alone."""
    by_key = {key_of(task): task for task in tasks}
    first: dict[tuple[str, ...], Result] = {}
    for result in results:
        if _has_neighbours(result) and result.verdict in FAILED:
            first.setdefault((result.backend, result.op, str(result.mode), str(result.verdict)), result)
    shown = list(first.values())[:MAX_SHRUNK]
    return [_shrink_one(pool, r, by_key[key_of(r)]) for r in shown if key_of(r) in by_key]


def _has_neighbours(result: Result) -> bool:
    """Whether it is a failure, of a call that is not wrong itself."""
    return result_kind_of(result) is ResultKind.FAILED and result.mode is not Mode.REFUSAL


def _shrink_one(pool: Judges, result: Result, task: Task) -> Task:
    deadline = time.monotonic() + SHRINK_SECONDS

    def fails(candidate: Case) -> bool:
        if time.monotonic() > deadline:
            return False
        *_, last = pool.run([replace(task, case=str(candidate))])
        return last.verdict == result.verdict

    case = Case.parse(result.case)
    return replace(task, case=str(shrink(case, op_of(case.op, task.ops), fails).case))


def find_deltas(
    run: Callable[[Sequence[Task]], Iterable[Result]],
    results: Iterable[Result],
    tasks: Iterable[Task],
    known: Sequence[Known],
    seconds: float = MAX_SECONDS_OF_DELTAS,
) -> Iterator[Result]:
    """The smallest record of each cause again, with what its case needs to fail; as many as there is time for."""
    by_key, had = {key_of(task): task for task in tasks}, {key_of(r): r for r in results}
    spent = 0.0
    for cause in find_causes(r for r in had.values() if _has_neighbours(r)):
        result = cause.smallest
        task = by_key.get(key_of(result))
        if task is None or result.verdict not in FAILED - _SLOW or spent > seconds:
            continue
        neighbours = _CalledNeighbours(run, task, known, had)
        case = Case.parse(result.case)
        delta = find_delta(case, op_of(case.op, task.ops), neighbours.fails)
        spent += neighbours.seconds
        if delta is not None:
            yield replace(result, delta=str(delta))


@dataclass
class _CalledNeighbours:
    """Calls of neighbours of one failing case; what has a record already is not called."""

    run: Callable[[Sequence[Task]], Iterable[Result]]
    task: Task
    known: Sequence[Known]
    had: Mapping[tuple[str, str, str], Result]
    seconds: float = 0.0

    def fails(self, case: Case) -> bool | None:
        """Whether the case fails; None where its record says nothing. Raises OutOfCallsError."""
        task = replace(self.task, case=str(case))
        record = self.had.get(key_of(task))
        if record is None:
            if self.seconds > MAX_DELTA_SECONDS:
                raise OutOfCallsError
            *_, record = self.run([task])
            self.seconds += record.seconds + (record.judging or 0.0)
        return _FAILS.get(result_kind_of(mark(record, self.known)))
