"""Tasks through session workers: processes of concurrent.futures, or this one; small cases in batches.

Workers do not die of what a backend does. One that is killed all the same costs its cases a second try, alone; a case
that kills its worker again is recorded as a fault of the harness.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from typing import Protocol, Self, TypeAlias

from opproof.backends.worker.sandbox import supervisor
from opproof.core.errors import BackendError
from opproof.core.verdicts import Verdict
from opproof.harness.run.cache.store import CacheLocation
from opproof.harness.run.hardening import end, make_context, start_server, with_hardened_process
from opproof.harness.run.memory_limits import explain_killed
from opproof.harness.run.record import make_early_record
from opproof.harness.run.session import worker
from opproof.harness.run.task import HostLimits, Task, by_case
from opproof.reports import Result

#: Bundles of cases for each judge, so that none waits: one that it is at, and the next.
_READY = 2

#: Seconds without a record after which judges are woken: a backend may have stopped one by a signal.
_STILL = 10.0
#: How often judges are started anew where that fails.
_TRIES = 20


def limit_threads() -> None:
    """The parallelism is in the processes; sums stay reproducible. Threads that wait leave the cores to others."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


class Judges(Protocol):
    """Those of one run, here or on other machines; a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def describe(self, backend: str) -> dict[str, str]:
        """See Pool."""
        ...

    def run(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """See Pool."""
        ...


def prepare() -> None:
    """Begin to start what judges come from: they are there sooner, when the run has planned what they are to do."""
    limit_threads()
    start_server()


class Pool:
    """The judges of one run; a context manager."""

    def __init__(self, limits: HostLimits, cache: CacheLocation | None = None) -> None:
        limit_threads()
        self.limits, self._cache = limits, cache
        self._executor = self._start_workers(limits.jobs)
        self._reach = ExitStack()

    def __enter__(self) -> Self:
        self._reach.enter_context(with_hardened_process())
        return self

    def __exit__(self, *_: object) -> None:
        _end(self._executor)
        self._reach.close()

    def describe(self, backend: str) -> dict[str, str]:
        """Name, version, device. Raises BackendError, also when loading it kills or hangs the process."""
        try:  # all judges load it at once: the others are needed as soon as the first has answered
            first, *_ = [self._executor.submit(worker.describe, backend) for _ in range(self.limits.jobs)]
            return first.result()
        except BrokenProcessPool:
            reason = "the judge's process ended before it answered; free some memory, or use fewer jobs."
            raise BackendError(f"backend {backend!r} could not be loaded: {reason}") from None

    def run(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Records as they end, one for every task; a second one of a task replaces the first."""
        left = Batches(by_case(tasks), self.limits.jobs)
        while True:
            unfinished = yield from self._shared(left)
            if not unfinished:
                return
            yield from self._run_one_by_one(unfinished)  # one of them killed its judge, or met somebody who did
            self._replace_workers(self.limits.jobs)

    def _shared(self, left: Batches) -> Generator[Result, None, list[Case]]:
        """Records of cases on all judges; returns those without records when one of these died."""
        pending: dict[Future[worker.JudgedBatch], tuple[Case, ...]] = {}
        unfinished: list[Case] = []
        while True:
            while left and len(pending) < _READY * self.limits.jobs and not unfinished:
                some = left.take()
                try:
                    pending[self._executor.submit(worker.judge_cases, some, SECONDS)] = some
                except (BrokenProcessPool, OSError, EOFError):  # the others: the fork server was killed
                    unfinished += some
            if not pending:
                return unfinished
            done = wait(pending, _STILL, return_when=FIRST_COMPLETED).done
            for process in [] if done else multiprocessing.active_children():
                if process.pid is not None:
                    with suppress(OSError):
                        os.kill(process.pid, signal.SIGCONT)
            for future in [future for future in pending if future in done]:  # a set has no order, and records replace
                some = pending.pop(future)
                try:
                    judged, seconds = future.result()
                except BrokenProcessPool:
                    unfinished += some
                    continue
                left.judged(some, len(judged), seconds)
                for records in judged:
                    yield from records

    def _run_one_by_one(self, cases: Iterable[Case]) -> Iterator[Result]:
        """One after the other; what kills its judge here too, though this had no other case before, is told of it."""
        self._replace_workers(1)
        used = False
        for case in cases:
            records = self._try_case(case)
            if records is None and used:
                records = self._try_case(case)
            used = records is not None
            yield from records or [
                make_early_record(task, Verdict.HARNESS_ERROR, explain_killed(task.case, task.judge_memory))
                for task in case
            ]

    def _try_case(self, case: Case) -> Sequence[Result] | None:
        """Its records; None where it killed the judge, after which there is another."""
        try:
            ((records,), _) = self._executor.submit(worker.judge_cases, [case]).result()
        except BrokenProcessPool:
            self._replace_workers(1)
            return None
        return records

    def _replace_workers(self, jobs: int) -> None:
        _end(self._executor)
        self._executor = self._start_workers(jobs)

    def _start_workers(self, jobs: int) -> ProcessPoolExecutor:
        """Judges, the first of which starts now. Raises OSError or EOFError where none can be started."""
        for tries in range(_TRIES):
            given = (self.limits, self._cache)
            some = ProcessPoolExecutor(jobs, mp_context=make_context(), initializer=worker.start, initargs=given)
            try:
                some.submit(os.getpid)
            except (OSError, EOFError):  # the fork server was killed, and has not quite ended
                if tries == _TRIES - 1:
                    raise
                time.sleep(0.1)
            else:
                break
        return some


def _end(executor: ProcessPoolExecutor) -> None:
    """End the judges at once, with what they are at; their hosts end with them.

    They are killed before the executor is told: only its first `shutdown` waits for the thread that looks after them,
    and one that is at its end when the interpreter is too is woken through a pipe that it has just closed.
    """
    processes = [p for p in multiprocessing.active_children() if p.name.startswith(("ForkServer", "Spawn"))]
    parents = {supervisor.parent_of(p.pid) for p in processes if p.pid is not None}
    servers = {parent for parent in parents if supervisor.parent_of(parent) == os.getpid()}
    for process in processes:
        process.kill()
    executor.shutdown(wait=True, cancel_futures=True)
    for server in servers:
        _end_orphans(server)


def _end_orphans(server: int) -> None:
    """End what is left of hosts whose supervisor was killed, and their judge too; they have sessions of their own."""
    with suppress(OSError):
        session = os.getsid(server)
        for process in supervisor.list_children(server):
            if os.getsid(process) != session:
                end(process)


#: Seconds of a judge's work that are handed over at once: its records come that late, and so does an end.
SECONDS = 0.1
#: Cases at once: so many are tried again where their judge dies.
MAX_BATCH_CASES = 64

Case: TypeAlias = tuple[Task, ...]


class Batches:
    """The cases that no judge has yet, in their order."""

    def __init__(self, cases: Iterable[Case], jobs: int) -> None:
        """For so many judges."""
        self._left, self._jobs = deque(cases), jobs
        self._each = SECONDS  # that a case took of late

    def __len__(self) -> int:
        """How many cases are left."""
        return len(self._left)

    def take(self) -> tuple[Case, ...]:
        """The next ones: no more than take SECONDS, and fewer near the end, which all judges are to reach together."""
        share = len(self._left) // (4 * self._jobs)
        count = max(1, min(int(SECONDS / self._each), MAX_BATCH_CASES, share))
        return tuple(self._left.popleft() for _ in range(min(count, len(self._left))))

    def judged(self, given: Sequence[Case], done: int, seconds: float) -> None:
        """The first `done` of a bundle took so long; the others, which were not begun, are the next."""
        self._left.extendleft(reversed(given[done:]))
        self._each = max((self._each + seconds / max(done, 1)) / 2, 1e-6)
