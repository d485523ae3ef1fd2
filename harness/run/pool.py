"""Tasks through worker processes; whatever happens to a process is the verdict of the task it had.

The pool is pebble's: it times each task, notices deaths and replaces workers. A task whose
worker died by a signal is run once more with soft guards, to tell a step out of bounds from
another crash; the first few wrong answers are run once more alone in a new process, to tell
state that survives a call from a wrong formula. A case that ran out of memory gets a fresh process too:
the memory may have been that of the cases before it.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import Self

from pebble import CONSTS, ProcessExpired, ProcessPool

from opproof.cases import Case
from opproof.harness.run import task as worker
from opproof.harness.run.deaths import in_order
from opproof.harness.run.task import DEVICE_EXIT, MEMORY_EXIT, QUIET_EXIT, Task
from opproof.reports import Result
from opproof.vocabulary.errors import BackendError
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import Verdict

#: How many wrong answers of one operator and mode are looked at a second time.
_SECOND_LOOKS = 2
_GUARD_SIGNALS = {signal.SIGSEGV, signal.SIGBUS} if sys.platform != "win32" else set()


@dataclass(frozen=True)
class Limits:
    """What a task may use: seconds of time, bytes of memory; and how many run at once."""

    jobs: int
    timeout: float
    memory: int


class Pool:
    """Worker processes for one run; a context manager."""

    def __init__(self, limits: Limits) -> None:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")  # the parallelism is in the processes; sums stay reproducible
        self.limits, self.logs = limits, worker.new_log_folder()
        self.context = _context()
        CONSTS.term_timeout = 0.5  # a hanging C call ignores SIGTERM: go on to SIGKILL soon
        self.main = self._new(max_tasks=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.main.stop()  # type: ignore[no-untyped-call]
        self.main.join()
        shutil.rmtree(self.logs, ignore_errors=True)

    def _new(self, max_tasks: int) -> ProcessPool:
        pool = ProcessPool(
            max_workers=self.limits.jobs,
            max_tasks=max_tasks,
            context=self.context,
            initializer=worker.start,
            initargs=(self.logs, self.limits.memory, os.getpid()),
        )
        return in_order(pool)

    def describe(self, backend: str) -> dict[str, str]:
        """Name, version, device. Raises BackendError, also when loading it kills or hangs the process."""
        future: Future[dict[str, str]] = self.main.schedule(worker.describe, args=(backend,), timeout=120)
        try:
            return future.result()
        except ProcessExpired as death:
            reason = _death(death.exitcode) + self._said(death.pid)
            raise BackendError(f"backend {backend!r} could not be loaded: {reason}.") from None
        except TimeoutError:
            raise BackendError(f"backend {backend!r} could not be loaded: no answer within 120 s.") from None
        except BrokenProcessPool as error:
            raise BackendError(f"backend {backend!r} could not be loaded: {error}.") from None

    def run(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Results as they end, one for every task."""
        again: list[tuple[Task, Result]] = []
        looks: Counter[tuple[str, str, str]] = Counter()
        for task, result in self._all(self.main, tasks):
            key = (result.backend, result.op, result.mode)
            wrong = result.verdict in ("WRONG_VALUE", "WRONG_GRADIENT")
            looks[key] += wrong
            if result.verdict == "CRASH?":
                again.append((replace(task, soft=True), result))
            elif result.verdict == "OUT_OF_MEMORY":
                again.append((task, result))
            elif wrong and looks[key] <= _SECOND_LOOKS:
                again.append((replace(task, alone=True), result))
            else:
                yield result
        if not again:
            return
        first = dict(again)
        fresh = self._new(max_tasks=1)
        try:
            for task, second in self._all(fresh, list(first)):
                yield _second_look(task, first[task], second)
        finally:
            fresh.stop()  # type: ignore[no-untyped-call]
            fresh.join()

    def _all(self, pool: ProcessPool, tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
        pending = {pool.schedule(worker.run_task, args=(t,), timeout=self.limits.timeout): t for t in tasks}
        for future in as_completed(pending):
            task = pending.pop(future)  # type: ignore[call-overload]
            yield task, self._result(task, future)

    def _result(self, task: Task, future: Future[Result]) -> Result:
        try:
            return future.result()
        except TimeoutError:
            return self._failed(task, "TIMEOUT", f"no answer within {self.limits.timeout:g} s", self.limits.timeout)
        except ProcessExpired as death:
            if death.exitcode == MEMORY_EXIT:
                limit = f"{self.limits.memory / 2**20:.0f} MiB"
                return self._failed(task, "OUT_OF_MEMORY", f"the process outgrew its limit of {limit}")
            guard = -death.exitcode in _GUARD_SIGNALS
            said = self._said(death.pid)
            return self._failed(task, "CRASH?" if guard and not task.soft else "CRASH", _death(death.exitcode) + said)
        except BackendError:
            raise
        except Exception as error:  # a fault of opproof's own, or a result that would not travel: this case's, aloud
            return self._failed(task, "ERROR", f"opproof itself failed: {type(error).__name__}: {error}")

    def _failed(self, task: Task, verdict: str, message: str, seconds: float = 0.0) -> Result:
        case = Case.parse(task.case)
        return Result(
            case=task.case,
            op=case.op,
            dtype=case.dtype,
            backend=task.backend,
            mode=Mode(task.mode),
            verdict=verdict,  # type: ignore[arg-type]  # also "CRASH?", which the second look settles
            message=message,
            seconds=seconds,
            repro=worker.repro(replace(task, soft=False, alone=False)),
        )

    def _said(self, pid: int | None) -> str:
        """The last line that the dead worker printed."""
        try:
            lines = worker.log_file(self.logs, pid or 0).read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return ""
        said = [" ".join(line.split()) for line in lines if line.strip()]
        return f"; it said: {said[-1][:300]}" if said else ""


def _second_look(task: Task, first: Result, second: Result) -> Result:
    """The verdict after the second run, which differs from the first in one respect only."""
    if first.verdict == "OUT_OF_MEMORY":  # what cases before it left behind is gone
        return second
    if task.soft:
        if second.verdict in ("CRASH", "TIMEOUT", "OUT_OF_MEMORY"):
            return replace(first, verdict=Verdict.CRASH)
        said = second.message if second.verdict == "OUT_OF_BOUNDS" else "a read past the end or before the beginning"
        return replace(
            first, verdict=Verdict.OUT_OF_BOUNDS, message=f"{said} (stopped by a guard page: {first.message})"
        )
    if second.verdict == "PASS":
        said = "right when called alone in a new process, wrong after a call with other data"
        return replace(first, verdict=Verdict.NOT_REPEATABLE, message=said, diagnosis="")
    return first


def _death(exitcode: int) -> str:
    if exitcode == QUIET_EXIT:
        return "the backend called exit(0)"
    if exitcode == MEMORY_EXIT:
        return "the process outgrew its limit of memory"
    if exitcode == DEVICE_EXIT:
        return "the process lost its device"
    if exitcode >= 0:
        return f"the process exited with status {exitcode}"
    try:
        return f"the process died of {signal.Signals(-exitcode).name}"
    except ValueError:
        return f"the process died of signal {-exitcode}"


def _context() -> multiprocessing.context.BaseContext:
    """Fork server with the judge imported, so that a new worker costs milliseconds; spawn elsewhere."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["opproof.harness.run.task", "scipy.special"])
    return context
