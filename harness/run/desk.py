"""A judge at work: one host for each backend, a second look where the first leaves a doubt, records.

A host that died, hung or outgrew its limit is replaced; the case after it starts in a fresh one. What looks like the
fault of a case in a host that other cases used before is looked at again in a fresh one. Where it does not show again,
an earlier case may have left behind what did it (suspects.py): then that one is charged, and else the case at hand.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from opproof.cases import Case
from opproof.harness.judge.judgement import Rules
from opproof.harness.ledger.known import mark
from opproof.harness.run.attempt import Attempt, attempt, rules_of, support_of
from opproof.harness.run.cache.place import Place
from opproof.harness.run.cache.question import Questions
from opproof.harness.run.cache.store import Store
from opproof.harness.run.calls import STALE, same_bits
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.hosts.start import described, start
from opproof.harness.run.limits import Limits
from opproof.harness.run.question import Settled
from opproof.harness.run.record import measured, record, settled, with_verdict
from opproof.harness.run.spoilt import before
from opproof.harness.run.suspects import DAMAGE, Guilty, Harm, Suspect, called, culprits
from opproof.harness.run.task import Task, op_of, repro
from opproof.reports import Result
from opproof.vocabulary.errors import BackendError
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.text import plain
from opproof.vocabulary.verdicts import FAILED, WRONG, Verdict

#: How many second looks at one operator, mode and verdict may change nothing before there are no more, and how many
#: where the answer seems to be kept from the call before.
_LOOKS, _LOOKS_AT_KEPT = 2, 16
#: How often harm is traced back.
_TRACES = 16
#: How many starts in a row may fail after so many seconds: each costs a case, and a run may have thousands.
_WAITS, _LONG = 3, 10.0

#: What an earlier case's threads and timers can do to an innocent one.
_INFLICTED = DAMAGE | {Verdict.CRASH, Verdict.TIMEOUT}


@dataclass
class _Seat:
    """The host of one backend, and the tasks that it has had since it started."""

    host: Host
    history: list[Suspect] = field(default_factory=list)


@dataclass(frozen=True)
class _Look:
    """The last word on a task; `unlike` is what was seen first, and not again: an earlier task may have done it."""

    attempt: Attempt
    unlike: Attempt | None = None


class Desk:
    """Everything that a judge keeps from one task to the next."""

    def __init__(self, limits: Limits, cache: Place | None = None) -> None:
        """`cache` is not for a backend in this process, which could read there what is expected."""
        self.limits = limits
        self._store = None if cache is None or limits.in_process else Store(cache)
        self._seats: dict[str, _Seat] = {}
        self._futile: Counter[tuple[str, str, str, str]] = Counter()  # second looks that changed nothing
        self._traces = 0
        self._guilty: set[str] = set()  # operators whose cases have done harm
        self._waits: defaultdict[str, list[str]] = defaultdict(list)  # why the last starts failed, after a long while
        self._questions = Questions(self._store)  # of the case that is on the desk

    def describe(self, spec: str) -> dict[str, str]:
        """Name, version and device of a backend. Raises BackendError when it cannot be loaded."""
        return described(spec, self._seat(spec).host)

    def rules(self, task: Task) -> Rules:
        """By which answers to a task are judged. Raises BackendError, HostFault, and Settled where it declines."""
        host, op = self._seat(task.backend).host, op_of(_op(task), task.ops)
        return rules_of(task, support_of(host, Case.parse(task.case), op, Mode(task.mode)))

    def results(self, tasks: Iterable[Task]) -> list[Result]:
        """The records of tasks of one case, and those of earlier tasks that turn out to be others than they were."""
        self._questions = Questions(self._store)
        records: list[Result] = []
        misshapen = False
        for task in tasks:
            try:
                if misshapen and self._seat(task.backend).host.about.differentiates:
                    reason = "not asked: the forward's output has another shape"
                    records.append(settled(task, Verdict.INCONCLUSIVE, reason))
                    continue
                records += self._records(task)
            except BackendError as error:  # it could be loaded once
                records.append(settled(task, Verdict.CRASH, str(error)))
            except OSError as error:
                reason = f"no host could be started: {error.strerror}"
                records.append(settled(task, Verdict.HARNESS_ERROR, reason))
            misshapen = records[-1].verdict is Verdict.WRONG_SHAPE and task.mode == "forward"
        self._questions.keep()
        return records

    def keep(self) -> None:
        """Write what is to be kept of the cases so far into the cache, for other judges too: once for several cases."""
        if self._store is not None:
            self._store.write()

    def close(self) -> None:
        """End all hosts."""
        for spec in list(self._seats):
            self._leave(spec)
        if self._store is not None:
            self._store.close()

    def _records(self, task: Task) -> list[Result]:
        amended = self._between(task.backend)
        seat = self._seat(task.backend)
        count = len(seat.history)
        first = self._attempt(seat, task)
        look = _Look(first) if seat.host.about.once else self._second_look(task, first, used=count > 0)
        last = look.attempt
        if look.unlike is not None:
            if look.unlike.judgement.verdict is Verdict.NOT_REPEATABLE:
                return [*amended, self._spoilt(task, look.unlike, seat, count)]
            harm = Harm(look.unlike.judgement.verdict, look.unlike.judgement.message)
            guilty = self._traced(task.backend, seat.history[:count], task, harm)
            if not guilty:
                last = with_verdict(look.unlike, harm.verdict, f"{harm.message}; seen once: {self._untraced}")
            for one in guilty:
                if one.suspect.task is task:  # now and then, as fast as its threads are
                    last = with_verdict(look.unlike, one.harm.verdict, f"{one.harm.message}; not every time")
                else:
                    amended += _charged(one, harm)
        return [*amended, record(task, last, in_process=seat.host.in_process)]

    def _spoilt(self, task: Task, kept: Attempt, seat: _Seat, count: int) -> Result:
        """The record of an answer that earlier calls spoil, with the command that calls them before it."""
        self._traces += 1
        found = None
        if self._traces <= _TRACES:
            found = before(seat.history[:count], lambda some: self._is_wrong_after(task, some))
        said = self._untraced if found is None else found.said
        judgement = kept.judgement
        last = with_verdict(kept, judgement.verdict, f"{judgement.message}; {'seen once: ' * (found is None)}{said}")
        made = record(task, last, in_process=seat.host.in_process)
        return made if found is None else replace(made, repro=repro(task, *found.tasks))

    def _is_wrong_after(self, task: Task, some: Sequence[Suspect]) -> bool:
        """Whether the task is wrong in a fresh host after calls of `some`."""
        self._leave(task.backend)
        seat = self._seat(task.backend)
        try:
            for one in some:
                called(seat.host, one.task, self.limits.timeout, one.verdict)
        except (HostFault, Settled):
            self._leave(task.backend)
            return False
        return self._attempt(seat, task).judgement.verdict in WRONG

    def _attempt(self, seat: _Seat, task: Task, *, soft: bool = False, alone: bool = False) -> Attempt:
        op = op_of(_op(task), task.ops)
        alone = alone or seat.host.about.once
        made = attempt(seat.host, task, op, self.limits.timeout, posing=self._questions, soft=soft, alone=alone)
        if made.seconds > 0:  # a task that was declined beforehand called nothing, and did no harm
            seat.history.append(Suspect(task, made.judgement.verdict, time.monotonic()))
        if made.fault is not None:
            self._leave(task.backend)
        return made

    def _second_look(self, task: Task, first: Attempt, *, used: bool) -> _Look:
        verdict, fault = first.judgement.verdict, first.fault
        if self.limits.in_process:
            return _Look(as_told_by_itself(first))
        if verdict is Verdict.OUT_OF_MEMORY and fault is not None:  # what cases before it left behind is gone
            return _Look(self._fresh(task) if used else first)
        kind = (task.backend, _op(task), task.mode, verdict)
        if verdict is Verdict.ERROR and fault is None:  # a backend may raise in all operators
            kind = (task.backend, "", "", verdict)
        tired = self._futile[kind] >= _LOOKS
        if verdict in WRONG:
            if task.known and mark(measured(task, first), task.known).known:
                return _Look(first)  # a process of its own would say the same
            tired = tired and (not _is_kept(first) or self._futile[kind] >= _LOOKS_AT_KEPT)
            look = _Look(first) if tired else self._look_at_wrong(task, first, used=used)
            self._futile[kind] += look.attempt is first
            return look
        if used and verdict in _INFLICTED:
            if tired and verdict is not Verdict.CRASH:
                return _Look(first)
            again = self._fresh(task)
            if again.judgement.verdict is not verdict:
                return _Look(again, unlike=first)
            self._futile[kind] += 1
        if fault is not None and fault.guard:
            return _Look(self._at_the_guard(task, first))
        return _Look(first)

    def _look_at_wrong(self, task: Task, first: Attempt, *, used: bool) -> _Look:
        """Alone in a new process: a wrong formula is wrong there too, state that survives a call is not."""
        alone = self._fresh(task, alone=True)
        if alone.judgement.verdict is Verdict.PASS:
            kept = with_verdict(first, Verdict.NOT_REPEATABLE, STALE if first.judgement.stale else _SPOILT)
            again = self._fresh(task) if used else first
            return _Look(again, unlike=kept) if again.judgement.verdict is Verdict.PASS else _Look(kept)
        if first.judgement.stale and not _same_answer(first, alone):
            return _Look(with_verdict(first, Verdict.NOT_REPEATABLE, STALE))
        return _Look(first)

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
        """Where the host has died since its last answer: who did it. There is a fresh one next time."""
        seat = self._seats.get(spec)
        if seat is None or seat.host.alive:
            return []
        fault = seat.host.fault()
        self._leave(spec)
        if not seat.history or fault.verdict is Verdict.OUT_OF_MEMORY:  # all of them together, as a rule
            return []
        harm = Harm(fault.verdict, fault.message)
        guilty = self._traced(spec, seat.history, None, harm)
        if guilty:
            return [result for one in guilty for result in _charged(one, harm)]
        last = seat.history[-1]
        reason = f"between this case and the next {plain(harm.message)}; {self._untraced}"
        return [] if last.verdict in FAILED else [settled(last.task, harm.verdict, reason)]

    def _traced(self, spec: str, history: Sequence[Suspect], victim: Task | None, met: Harm) -> list[Guilty]:
        """Who is to blame for harm that `victim` met, or that was met between cases."""
        self._traces += 1
        if self._traces > _TRACES:  # only whether one did it of whose operator that is known
            history = [s for s in history if _op(s.task) in self._guilty][-1:]
            if not history:
                return []
        self._leave(spec)
        host, leave = lambda: self._seat(spec).host, lambda: self._leave(spec)
        guilty = culprits(history, victim, met.verdict, host, leave, self.limits.timeout)
        self._guilty |= {_op(one.suspect.task) for one in guilty}
        return guilty

    @property
    def _untraced(self) -> str:
        """Why nobody else is charged with harm."""
        if self._traces > _TRACES:
            return f"who did it was not looked for, after {_TRACES} such searches in this run"
        return "no case before it does it again in a fresh process"

    def _seat(self, spec: str) -> _Seat:
        if spec not in self._seats:
            self._seats[spec] = _Seat(self._started(spec))
        return self._seats[spec]

    def _started(self, spec: str) -> Host:
        """A host. Raises BackendError, at once where the last ones took long to say that they could not be started."""
        if len(self._waits[spec]) >= _WAITS:
            raise BackendError(f"{self._waits[spec][-1]} It is not tried again.")
        begun = time.monotonic()
        try:
            host = start(spec, self.limits)
        except BackendError as error:
            if time.monotonic() - begun > _LONG:
                self._waits[spec].append(str(error))
            raise
        self._waits[spec].clear()
        return host

    def _leave(self, spec: str) -> None:
        seat = self._seats.pop(spec, None)
        if seat is not None:
            seat.host.close()


def _op(task: Task) -> str:
    return task.case.partition("[")[0]


_SPOILT = "right when called alone in a new process, wrong after a call with other data"


def _charged(guilty: Guilty, met: Harm) -> list[Result]:
    """The record that replaces that of the guilty; none where it has failed already."""
    if guilty.suspect.verdict in FAILED:
        return []
    reason = f"after the call had returned, {guilty.harm.message} (met by a later case as: {met.message})"
    return [settled(guilty.suspect.task, guilty.harm.verdict, plain(reason))]


def as_told_by_itself(first: Attempt) -> Attempt:
    """Without another process to ask: a wrong answer equal to the one before, not one number, was kept from there."""
    return with_verdict(first, Verdict.NOT_REPEATABLE, STALE) if _is_kept(first) else first


def _is_kept(first: Attempt) -> bool:
    """Whether the answer is that of the call before, which had other data, and is not one number."""
    if not first.judgement.stale or first.answer is None:
        return False
    arrays = [np.nan_to_num(np.asarray(a, dtype=np.float64)) for a in first.answer.arrays if a is not None and a.size]
    return any(np.ptp(a) != 0 for a in arrays)


def _same_answer(first: Attempt, second: Attempt) -> bool:
    if first.answer is None or second.answer is None:
        return False
    return same_bits(first.answer.arrays, second.answer.arrays)
