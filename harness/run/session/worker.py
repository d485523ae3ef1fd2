"""A session worker: tasks case by case, one host for each backend, a second look where the first leaves a doubt.

It never loads a backend, and dies with its run. A host that died, hung or outgrew its limit is replaced. What looks
like the fault of a case in a used host is looked at again in a fresh one (recheck.py); where it does not show again, an
earlier case is charged, if one does it again (attribution.py), and else the case at hand.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from opproof.backends.worker.sandbox import supervisor
from opproof.cases import Case
from opproof.core.errors import BackendError
from opproof.core.system import keep_what_is_freed, uncollected
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.judgement import Rules
from opproof.harness.reference.chunks.memory_budget import with_memory_limit
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run import hardening
from opproof.harness.run.attempt import rules_of, support_of
from opproof.harness.run.cache import location
from opproof.harness.run.cache.location import CacheLocation
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.cache.store import CacheStore
from opproof.harness.run.hardening import end, harden_process, take_orphans
from opproof.harness.run.hosts.process import HostProcess
from opproof.harness.run.hosts.start import describe_host
from opproof.harness.run.memory_limits import limit_of
from opproof.harness.run.record import make_early_record, record
from opproof.harness.run.session.attribution import Attribution
from opproof.harness.run.session.recheck import Recheck, Rechecks
from opproof.harness.run.session.slots import Slots
from opproof.harness.run.task import HostLimits, Task, op_name_of, repro_command_of
from opproof.reports import Result

#: The one of this process.
_DESK: list[Session] = []

#: Seconds that one case may take a judge, all its calls and looks included.
_LONGEST = 1200.0


class TooLong(Exception):
    """A judge has been at one case for too long: a reference that does not end, for instance."""


def start(limits: HostLimits, cache: location.CacheLocation | None = None) -> None:
    """Initialise a judge's process."""
    location.clear_cache_env()
    hardening.clear_key_env()
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


@dataclass(frozen=True)
class JudgedBatch:
    """The records of each of the first of some cases, and how many seconds they took."""

    records: Sequence[Sequence[Result]]
    seconds: float


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
    return JudgedBatch(records, spent)


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

    def keep(self) -> None:
        """Write what is to be kept of the cases so far into the cache, for other judges too: once for several cases."""
        if self._store is not None:
            self._store.write()

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
