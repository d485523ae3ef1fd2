"""A judge at work: one host for each backend, a second look where the first leaves a doubt, records.

A host that died, hung or outgrew its limit is replaced; the case after it starts in a fresh one. What looks like the
fault of a case in a host that other cases used before is looked at again in a fresh one, where it must show again:
else something that an earlier case left behind did it (suspects.py), and that case is charged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from opproof.harness.run.attempt import Attempt, attempt, same_bits
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.start import described, start
from opproof.harness.run.limits import Limits
from opproof.harness.run.record import record, settled, with_verdict
from opproof.harness.run.suspects import culprit
from opproof.harness.run.task import Task, op_of
from opproof.reports import Result
from opproof.vocabulary.errors import BackendError
from opproof.vocabulary.verdicts import Verdict

#: How many second looks at one operator, mode and verdict may change nothing before there are no more.
_LOOKS = 2
#: How often a death between cases is traced back.
_TRACES = 8

_WRONG = frozenset({Verdict.WRONG_VALUE, Verdict.WRONG_GRADIENT})
#: What an earlier case's threads and timers can do to an innocent one.
_INFLICTED = frozenset({
    Verdict.CRASH, Verdict.TIMEOUT, Verdict.ERROR, Verdict.OUT_OF_BOUNDS, Verdict.INPUT_CHANGED, Verdict.NOT_WRITTEN,
})  # fmt: skip


@dataclass
class _Seat:
    """The host of one backend, and the tasks that it has had since it started."""

    host: Host
    history: list[Task] = field(default_factory=list)


class Desk:
    """Everything that a judge keeps from one task to the next."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._seats: dict[str, _Seat] = {}
        self._futile: Counter[tuple[str, str, str, str]] = Counter()  # second looks that changed nothing
        self._traces = 0

    def describe(self, spec: str) -> dict[str, str]:
        """Name, version and device of a backend. Raises BackendError when it cannot be loaded."""
        return described(spec, self._seat(spec).host)

    def results(self, tasks: Iterable[Task]) -> list[Result]:
        """The records of tasks of one case, and those of earlier tasks that turn out to be others than they were."""
        records: list[Result] = []
        misshapen = False
        for task in tasks:
            if misshapen and self._seat(task.backend).host.about.differentiates:
                reason = "not asked: the forward's output has another shape"
                records.append(settled(task, Verdict.INCONCLUSIVE, reason))
                continue
            try:
                records += self._records(task)
            except BackendError as error:  # it could be loaded once
                records.append(settled(task, Verdict.CRASH, str(error)))
            except OSError as error:
                reason = f"no host could be started: {error.strerror}"
                records.append(settled(task, Verdict.HARNESS_ERROR, reason))
            misshapen = records[-1].verdict is Verdict.WRONG_SHAPE and task.mode == "forward"
        return records

    def close(self) -> None:
        """End all hosts."""
        for spec in list(self._seats):
            self._leave(spec)

    def _records(self, task: Task) -> list[Result]:
        amended = self._between(task.backend)
        seat = self._seat(task.backend)
        used = list(seat.history)
        first = self._attempt(seat, task)
        last, innocent = self._second_look(task, first, used=bool(used))
        if innocent:
            amended += self._traced(task.backend, used, first.judgement.message)
        return [*amended, record(task, last, in_process=seat.host.in_process)]

    def _attempt(self, seat: _Seat, task: Task, *, soft: bool = False, alone: bool = False) -> Attempt:
        op = op_of(task.case.partition("[")[0], task.ops)
        made = attempt(seat.host, task, op, self.limits.timeout, soft=soft, alone=alone)
        seat.history.append(task)
        if made.fault is not None:
            self._leave(task.backend)
        return made

    def _second_look(self, task: Task, first: Attempt, *, used: bool) -> tuple[Attempt, bool]:
        """The last word on a task, and whether it was innocent of what happened first."""
        verdict, fault = first.judgement.verdict, first.fault
        if self.limits.in_process:
            return as_told_by_itself(first), False
        if verdict is Verdict.OUT_OF_MEMORY and fault is not None:  # what cases before it left behind is gone
            return (self._fresh(task), False) if used else (first, False)
        kind = (task.backend, task.case.partition("[")[0], task.mode, verdict)
        tired = self._futile[kind] >= _LOOKS
        if verdict in _WRONG:
            last = first if tired else self._look_at_wrong(task, first)
            self._futile[kind] += last is first
            return last, False
        if used and verdict in _INFLICTED and (fault is not None or verdict is not Verdict.ERROR):
            if tired and verdict is not Verdict.CRASH:
                return first, False
            again = self._fresh(task)
            if again.judgement.verdict is not verdict:
                return again, True
            self._futile[kind] += 1
        if fault is not None and fault.guard:
            return self._at_the_guard(task, first), False
        return first, False

    def _look_at_wrong(self, task: Task, first: Attempt) -> Attempt:
        """Alone in a new process: a wrong formula is wrong there too, state that survives a call is not."""
        alone = self._fresh(task, alone=True)
        if alone.judgement.verdict is Verdict.PASS:
            return with_verdict(first, Verdict.NOT_REPEATABLE, _STALE if first.judgement.stale else _SPOILT)
        if first.judgement.stale and not _same_answer(first, alone):
            return with_verdict(first, Verdict.NOT_REPEATABLE, _STALE)
        return first

    def _at_the_guard(self, task: Task, first: Attempt) -> Attempt:
        """Stopped by a signal that unreadable pages send: with soft guards a step out of bounds is survived."""
        soft = self._fresh(task, soft=True)
        if soft.fault is not None:
            return first
        outside = soft.judgement.verdict is Verdict.OUT_OF_BOUNDS
        what = soft.judgement.message if outside else "a read past the end or before the beginning"
        reason = f"{what} (stopped by a guard page: {first.judgement.message})"
        return with_verdict(first, Verdict.OUT_OF_BOUNDS, reason)

    def _fresh(self, task: Task, *, soft: bool = False, alone: bool = False) -> Attempt:
        self._leave(task.backend)
        return self._attempt(self._seat(task.backend), task, soft=soft, alone=alone)

    def _between(self, spec: str) -> list[Result]:
        """Where the host has died since its last answer: who did it, and a fresh one next time."""
        seat = self._seats.get(spec)
        if seat is None or seat.host.alive:
            return []
        fault = seat.host.fault()
        self._leave(spec)
        return self._traced(spec, seat.history, fault.message)

    def _traced(self, spec: str, history: Sequence[Task], how: str) -> list[Result]:
        """The record of the task that a death, or damage, between cases is due to; none where nobody does it again."""
        self._traces += 1
        if self._traces > _TRACES or not history:
            return []
        self._leave(spec)
        guilty = culprit(history, lambda: self._seat(spec).host, lambda: self._leave(spec), self.limits.timeout)
        if guilty is None:
            return []
        reason = f"after the call had returned, {guilty.how}"
        return [
            replace(settled(guilty.task, Verdict.CRASH, reason), message=f"{reason} (met by a later case as: {how})")
        ]

    def _seat(self, spec: str) -> _Seat:
        if spec not in self._seats:
            self._seats[spec] = _Seat(start(spec, self.limits))
        return self._seats[spec]

    def _leave(self, spec: str) -> None:
        seat = self._seats.pop(spec, None)
        if seat is not None:
            seat.host.close()


_SPOILT = "right when called alone in a new process, wrong after a call with other data"
_STALE = "the answer is that of the call before, which had other data"


def as_told_by_itself(first: Attempt) -> Attempt:
    """Without another process to ask: a wrong answer equal to the one before, not one number, was kept from there."""
    if not first.judgement.stale:
        return first
    arrays = [] if first.answer is None else [a for a in first.answer.arrays if a is not None and a.size]
    constant = all(np.ptp(np.nan_to_num(np.asarray(a, dtype=np.float64))) == 0 for a in arrays)
    return first if constant else with_verdict(first, Verdict.NOT_REPEATABLE, _STALE)


def _same_answer(first: Attempt, second: Attempt) -> bool:
    if first.answer is None or second.answer is None:
        return False
    return same_bits(first.answer.arrays, second.answer.arrays)
