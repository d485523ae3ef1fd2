"""A session worker: tasks case by case, one host for each backend, a second look where the first leaves a doubt.

It never loads a backend, and dies with its run. A host that died, hung or outgrew its limit is replaced. What looks
like the fault of a case in a used host is looked at again in a fresh one, in a process of its own, with guards that can
be touched: a wrong formula is wrong in every process; what is kept from an earlier call, or was done by one, does not
show again in a fresh one. Where it does not, an earlier case is charged, if one does it again (slots.py), and
else the case at hand.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self, TypeAlias

from opproof.backends.worker.sandbox import supervisor
from opproof.cases import Case
from opproof.core.errors import BackendError
from opproof.core.system import keep_what_is_freed, uncollected
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.judgement import Rules
from opproof.harness.known_failures.known import mark
from opproof.harness.reference.chunks.memory_budget import with_memory_limit
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import Attempt, as_told_by_itself, rules_of, support_of
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.cache.store import VARIABLE, CacheLocation, CacheStore
from opproof.harness.run.calls import STALE, are_same_answers
from opproof.harness.run.hardening import end, harden_process, take_orphans
from opproof.harness.run.hosts.process import HostProcess
from opproof.harness.run.hosts.start import describe_host
from opproof.harness.run.memory_limits import limit_of
from opproof.harness.run.record import make_early_record, make_record, record
from opproof.harness.run.session.slots import DAMAGE, Attribution, Slots
from opproof.harness.run.task import HostLimits, Task, by_case, op_name_of, repro_command_of
from opproof.reports import Result

#: How many second looks at one operator, mode and verdict may change nothing before there are no more, and how many
#: where the answer seems to be kept from the call before.
_MAX_FUTILE_RECHECKS = 2
_MAX_FUTILE_RECHECKS_OF_KEPT = 16

#: What an earlier case's threads and timers can do to an innocent one.
_INFLICTED = DAMAGE | {Verdict.CRASH, Verdict.TIMEOUT}

_SPOILT = "right when called alone in a new process, wrong after a call with other data"


@dataclass(frozen=True)
class Recheck:
    """The last word on a task; `unlike` is what was seen first, and not again: an earlier task may have done it."""

    attempt: Attempt
    unlike: Attempt | None = None


class Rechecks:
    """Which attempts leave a doubt, and what a second one says; those that change nothing tire."""

    def __init__(self, seats: Slots) -> None:
        self._seats = seats
        self._futile: Counter[tuple[str, str, str, str]] = Counter()  # second looks that changed nothing

    def look_again(self, task: Task, first: Attempt, *, used: bool) -> Recheck:
        """At a task that was asked; `used`: in a host that had had others."""
        verdict, fault = first.judgement.verdict, first.fault
        if self._seats.limits.in_process:
            return Recheck(as_told_by_itself(first))
        if verdict is Verdict.OUT_OF_MEMORY and fault is not None:  # what cases before it left behind is gone
            return Recheck(self._seats.attempt_afresh(task) if used else first)
        kind = (task.backend, op_name_of(task), task.mode, verdict)
        if verdict is Verdict.ERROR and fault is None:  # a backend may raise in all operators
            kind = (task.backend, "", "", verdict)
        tired = self._futile[kind] >= _MAX_FUTILE_RECHECKS
        if verdict in WRONG | _INFLICTED and task.known and mark(make_record(task, first), task.known).known:
            return Recheck(first)  # a process of its own would say the same
        if verdict in WRONG:
            tired = tired and (not first.is_kept or self._futile[kind] >= _MAX_FUTILE_RECHECKS_OF_KEPT)
            look = Recheck(first) if tired else self._at_wrong(task, first, used=used)
            self._futile[kind] += look.attempt is first
            return look
        if used and verdict in _INFLICTED:
            if tired and verdict is not Verdict.CRASH:
                return Recheck(first)
            again = self._seats.attempt_afresh(task)
            if again.judgement.verdict is not verdict:
                return Recheck(again, unlike=first)
            self._futile[kind] += 1
        if fault is not None and fault.guard:
            return Recheck(self._at_the_guard(task, first))
        return Recheck(first)

    def _at_wrong(self, task: Task, first: Attempt, *, used: bool) -> Recheck:
        """Alone in a new process: a wrong formula is wrong there too, state that survives a call is not."""
        alone = self._seats.attempt_afresh(task, single_call=True)
        if alone.judgement.verdict is Verdict.NOT_REPEATABLE:  # of itself: nothing that was kept is to blame
            return Recheck(first.with_verdict(Verdict.NOT_REPEATABLE, alone.judgement.message))
        if alone.judgement.verdict is Verdict.PASS:
            kept = first.with_verdict(Verdict.NOT_REPEATABLE, STALE if first.judgement.stale else _SPOILT)
            again = self._seats.attempt_afresh(task) if used else first
            return Recheck(again, unlike=kept) if again.judgement.verdict is Verdict.PASS else Recheck(kept)
        both = [one.answer.arrays for one in (first, alone) if one.answer is not None]
        if first.judgement.stale and (len(both) < 2 or not are_same_answers(*both)):
            return Recheck(first.with_verdict(Verdict.NOT_REPEATABLE, STALE))
        return Recheck(first)

    def _at_the_guard(self, task: Task, first: Attempt) -> Attempt:
        """Stopped by a signal that unreadable pages send: with soft guards a step out of bounds is survived."""
        soft = self._seats.attempt_afresh(task, readable_guards=True)
        if soft.fault is not None:
            return first
        outside = soft.judgement.verdict is Verdict.OUT_OF_BOUNDS
        what = soft.judgement.message if outside else "a read past the end or before the beginning"
        reason = f"{what} (stopped by a guard page: {first.judgement.message})"
        return first.with_verdict(Verdict.OUT_OF_BOUNDS, reason)


#: The one of this process.
_DESK: list[Session] = []

#: Seconds that one case may take a judge, all its calls and looks included.
_LONGEST = 1200.0


class TooLong(Exception):
    """A judge has been at one case for too long: a reference that does not end, for instance."""


def start(limits: HostLimits, cache: CacheLocation | None = None) -> None:
    """Initialise a judge's process."""
    for name in [n for n in os.environ if n == VARIABLE or n.startswith("DASK_")]:
        del os.environ[name]  # hosts inherit it: neither a place of the cache nor a cluster's key
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides what an interruption means
    signal.signal(signal.SIGALRM, _raise_too_long)
    warnings.simplefilter("ignore")  # NaN, infinity and empty means are answers here, not accidents
    harden_process()
    take_orphans()
    keep_what_is_freed()
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    with uncollected(kept=True):
        _DESK[:] = [Session(limits, cache)]


def describe(spec: str) -> dict[str, str]:
    """See Desk."""
    return _DESK[0].describe(spec)


#: The records of each of the first of some cases, and how many seconds they took.
JudgedBatch: TypeAlias = tuple[Sequence[Sequence[Result]], float]


def judge_cases(cases: Sequence[Sequence[Task]], seconds: float = 0.0) -> JudgedBatch:
    """See Desk. After so many seconds no further case is begun."""
    begun, records = time.monotonic(), []
    try:
        for case in cases:
            signal.setitimer(signal.ITIMER_REAL, _LONGEST)
            records.append(_DESK[0].results(case))
            spent = time.monotonic() - begun
            if spent >= seconds:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        # What is left of a host whose supervisor was killed: this process adopts it; its children are supervisors.
        for orphan in set(supervisor.list_children(os.getpid())) - HostProcess.supervisors:
            end(orphan)
    _DESK[0].keep()
    return records, spent


def _raise_too_long(*_: object) -> None:
    raise TooLong(f"the judge was at it for {_LONGEST:g} s")


def _end_with_the_run() -> None:
    """When the run is gone, nobody reads the records; the hosts' supervisors see this process end."""
    run = multiprocessing.parent_process()
    if run is not None:
        run.join()
        os._exit(1)


class Session:
    """Everything that a judge keeps from one task to the next."""

    def __init__(self, limits: HostLimits, cache: CacheLocation | None = None) -> None:
        """`cache` is not for a backend in this process, which could read there what is expected."""
        self.limits = limits
        self._store = None if cache is None or limits.in_process else CacheStore(cache)
        self._seats = Slots(limits)
        self._looks, self._blame = Rechecks(self._seats), Attribution(self._seats)

    def describe(self, spec: str) -> dict[str, str]:
        """Name, version and device of a backend. Raises BackendError when it cannot be loaded."""
        return describe_host(spec, self._seats.slot_of(spec).host, self.limits)

    def rules(self, task: Task) -> Rules:
        """By which answers to a task are judged. Raises BackendError, HostFault, and Settled where it declines."""
        host, op = self._seats.slot_of(task.backend).host, op_of(op_name_of(task), task.ops)
        return rules_of(task, support_of(host, Case.parse(task.case), op, Mode(task.mode)))

    def results(self, tasks: Iterable[Task]) -> list[Result]:
        """The records of tasks of one case, and those of earlier tasks that turn out to be others than they were."""
        self._seats.questions = Questions(self._store)
        records: list[Result] = []
        misshapen = False
        for task in tasks:
            try:
                if misshapen and self._seats.slot_of(task.backend).host.about.differentiates:
                    reason = "not asked: the forward's output has another shape"
                    records.append(make_early_record(task, Verdict.INCONCLUSIVE, reason))
                    continue
                records += self._records(task)
            except BackendError as error:  # it could be loaded once
                records.append(make_early_record(task, Verdict.CRASH, str(error)))
            except OSError as error:
                reason = f"no host could be started: {error.strerror}"
                records.append(make_early_record(task, Verdict.HARNESS_ERROR, reason))
            misshapen = records[-1].verdict is Verdict.WRONG_SHAPE and task.mode == "forward"
        self._seats.questions.keep()
        return records

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """The records of tasks case by case, as a pool's judges give them."""
        return chain.from_iterable(map(self.results, by_case(tasks)))

    def keep(self) -> None:
        """Write what is to be kept of the cases so far into the cache, for other judges too: once for several cases."""
        if self._store is not None:
            self._store.write()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all hosts."""
        self._seats.close()
        if self._store is not None:
            self._store.close()

    def _records(self, task: Task) -> list[Result]:
        amended = self._blame.of_a_death(task.backend)
        seat = self._seats.slot_of(task.backend)
        history, earlier, once = seat.history, len(seat.history), seat.host.about.once
        first = self._seats.attempt(task)
        look = Recheck(first) if once else self._looks.look_again(task, first, used=earlier > 0)
        last, spoilers = look.attempt, tuple[Task, ...]()
        if look.unlike is not None and look.unlike.judgement.verdict is Verdict.NOT_REPEATABLE:
            last, spoilers = self._blame.of_another_answer(task, look.unlike, history[:earlier])
        elif look.unlike is not None:
            last, charged = self._blame.of_harm(task, look.unlike, last, history[:earlier])
            amended += charged
        with with_memory_limit(limit_of(seat.host, task)):
            made = record(task, last, in_process=seat.host.in_process)
        return [*amended, replace(made, repro=repro_command_of(task, *spoilers)) if spoilers else made]
