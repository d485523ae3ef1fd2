"""Tasks through judges: processes of concurrent.futures, or this one.

Judges do not die of what a backend does. One that is killed all the same costs the cases it had a second try, alone;
whatever kills it then is told of the case, as a fault of the harness.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from itertools import islice
from typing import Protocol, Self

from opproof.backends.host import keeper
from opproof.harness.run import judges
from opproof.harness.run.cache.place import Place
from opproof.harness.run.desk import Desk
from opproof.harness.run.limits import Limits
from opproof.harness.run.reach import end, withdrawn
from opproof.harness.run.record import settled
from opproof.harness.run.task import Task, by_case
from opproof.reports import Result
from opproof.vocabulary.errors import BackendError
from opproof.vocabulary.verdicts import Verdict

#: Cases that lie ready for each judge, so that none waits.
_READY = 3

#: Seconds without a record after which judges are woken: a backend may have stopped one by a signal.
_STILL = 10.0
#: How often judges are started anew where that fails.
_TRIES = 20

Case = tuple[Task, ...]


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


class Pool:
    """The judges of one run; a context manager."""

    def __init__(self, limits: Limits, cache: Place | None = None) -> None:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")  # the parallelism is in the processes; sums stay reproducible
        self.limits, self._cache = limits, cache
        self._desk = Desk(limits) if limits.in_process else None
        self._executor = None if limits.in_process else self._new(limits.jobs)
        self._reach = ExitStack()

    def __enter__(self) -> Self:
        if self._executor is not None:
            self._reach.enter_context(withdrawn())
        return self

    def __exit__(self, *_: object) -> None:
        if self._desk is not None:
            self._desk.close()
        if self._executor is not None:
            _end(self._executor)
        self._reach.close()

    def describe(self, backend: str) -> dict[str, str]:
        """Name, version, device. Raises BackendError, also when loading it kills or hangs the process."""
        if self._executor is None:
            assert self._desk is not None
            return self._desk.describe(backend)
        try:
            return self._executor.submit(judges.describe, backend).result()
        except BrokenProcessPool:
            reason = "the judge's process ended before it answered; free some memory, or use fewer jobs."
            raise BackendError(f"backend {backend!r} could not be loaded: {reason}") from None

    def run(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Records as they end, one for every task; a second one of a task replaces the first."""
        cases = list(by_case(tasks))
        if self._executor is None:
            assert self._desk is not None
            for case in cases:
                yield from self._desk.results(case)
            return
        left = iter(cases)
        while True:
            unfinished = yield from self._shared(left)
            if not unfinished:
                return
            _end(self._executor)
            for case in unfinished:  # one of them killed its judge, or met somebody who did
                yield from self._alone(case)
            self._executor = self._new(self.limits.jobs)

    def _shared(self, left: Iterator[Case]) -> Generator[Result, None, list[Case]]:
        """Records of cases on all judges; returns the cases that were under way when one of these died."""
        assert self._executor is not None
        pending: dict[Future[list[Result]], Case] = {}
        unfinished: list[Case] = []
        while True:
            for case in islice(left, max(0, _READY * self.limits.jobs - len(pending))):
                try:
                    pending[self._executor.submit(judges.results, case)] = case
                except (BrokenProcessPool, OSError, EOFError):  # the others: the fork server was killed
                    unfinished.append(case)
            if not pending or unfinished:
                break
            done = wait(pending, _STILL, return_when=FIRST_COMPLETED).done
            if not done:
                _wake()
            for future in done:
                case = pending.pop(future)
                try:
                    yield from future.result()
                except BrokenProcessPool:
                    unfinished.append(case)
        for future, case in pending.items():
            try:
                yield from future.result()
            except BrokenProcessPool:
                unfinished.append(case)
        return unfinished

    def _alone(self, case: Case) -> Iterable[Result]:
        executor = self._new(1)
        try:
            return executor.submit(judges.results, case).result()
        except BrokenProcessPool:
            reason = "the judge's process was killed while it was at this case, twice"
            return [settled(task, Verdict.HARNESS_ERROR, reason) for task in case]
        finally:
            _end(executor)  # at once, also where the run is stopped meanwhile

    def _new(self, jobs: int) -> ProcessPoolExecutor:
        """Judges, the first of which starts now. Raises OSError or EOFError where none can be started."""
        for tries in range(_TRIES):
            given = (self.limits, self._cache)
            some = ProcessPoolExecutor(jobs, mp_context=_context(), initializer=judges.start, initargs=given)
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
    parents = {keeper.parent(p.pid) for p in processes if p.pid is not None}
    servers = {parent for parent in parents if keeper.parent(parent) == os.getpid()}
    for process in processes:
        process.kill()
    executor.shutdown(wait=True, cancel_futures=True)
    for server in servers:
        _end_orphans(server)


def _end_orphans(server: int) -> None:
    """End what is left of hosts whose keeper was killed, and their judge too; they have sessions of their own."""
    with suppress(OSError):
        session = os.getsid(server)
        for process in keeper.children(server):
            if os.getsid(process) != session:
                end(process)


def _wake() -> None:
    for process in multiprocessing.active_children():
        if process.pid is not None and hasattr(signal, "SIGCONT"):
            with suppress(OSError):
                os.kill(process.pid, signal.SIGCONT)


def _context() -> multiprocessing.context.BaseContext:
    """Fork server with the judge imported, so that a new one costs milliseconds; spawn elsewhere."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["opproof.harness.run.preloaded"])
    return context
