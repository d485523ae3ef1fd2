"""The hosts of backends, each with the tasks that it has had: started when they are needed, left when spoilt."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from opproof.cases import Case
from opproof.core.errors import BackendError
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import Attempt, run_task
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.refusal import make_requests
from opproof.harness.run.request import Request, wanted_of
from opproof.harness.run.task import HostLimits, Task, op_name_of

#: What threads, timers and closed files of an earlier case can do to an innocent one whose host lives on.
DAMAGE = frozenset({Verdict.ERROR, Verdict.OUT_OF_BOUNDS, Verdict.INPUT_CHANGED, Verdict.NOT_WRITTEN})


@dataclass(frozen=True)
class Candidate:
    """A task that a host has had, what became of it there, and when (time.monotonic)."""

    task: Task
    verdict: Verdict
    ended: float


def call_task(host: Host, task: Task, timeout: float, known: Verdict) -> None:
    """Call a task's case, and judge nothing. Raises HostFault, and Settled for damage that is not `known` of it."""
    case = Case.parse(task.case)
    op = op_of(case.op, task.ops)
    try:
        if case.wrong:
            host.call(make_requests(case, op, task.judge_memory)[1], timeout)
            return
        pair = make_fitting_question(case, op, Mode(task.mode), task.judge_memory)
        threads = max(task.threads, default=0)
        host.call(Request(pair.case_data, wanted_of(pair.case_data, pair.outputs), threads=threads), timeout)
    except HostFault:
        raise
    except EarlyVerdict as settled:
        if settled.verdict in DAMAGE and settled.verdict is not known:
            raise
    except Exception:  # what the references do is not what is looked for
        return


#: How many starts in a row may fail after so many seconds: each costs a case, and a run may have thousands.
_MAX_SLOW_STARTS = 3
_SLOW_START_SECONDS = 10.0


@dataclass
class Slot:
    """The host of one backend, and the tasks that it has had since it started."""

    host: Host
    history: list[Candidate] = field(default_factory=list)


class Slots:
    """Where tasks are asked: one seat for each backend."""

    def __init__(self, limits: HostLimits) -> None:
        self.limits = limits
        self.questions = Questions(None)  # of the case that is on the desk
        self._seats: dict[str, Slot] = {}
        self._waits: defaultdict[str, list[str]] = defaultdict(list)  # why the last starts failed, after a long while

    def slot_of(self, spec: str) -> Slot:
        """That of a backend. Raises BackendError when it cannot be loaded."""
        if spec not in self._seats:
            self._seats[spec] = Slot(self._started(spec))
        return self._seats[spec]

    def seat_of(self, spec: str) -> Slot | None:
        """That of a backend that has one."""
        return self._seats.get(spec)

    def leave(self, spec: str) -> None:
        """End the host of a backend: the next task has a fresh one."""
        seat = self._seats.pop(spec, None)
        if seat is not None:
            seat.host.close()

    def close(self) -> None:
        """End all hosts."""
        for spec in list(self._seats):
            self.leave(spec)

    def attempt(self, task: Task, *, readable_guards: bool = False, single_call: bool = False) -> Attempt:
        """Ask a task where its backend sits. Raises BackendError when there is no host, and none can be started."""
        seat, op = self.slot_of(task.backend), op_of(op_name_of(task), task.ops)
        single_call = single_call or seat.host.about.once
        made = run_task(
            seat.host,
            task,
            op,
            self.limits.timeout,
            posing=self.questions,
            readable_guards=readable_guards,
            single_call=single_call,
        )
        if made.seconds > 0:  # a task that was declined beforehand called nothing, and did no harm
            seat.history.append(Candidate(task, made.judgement.verdict, time.monotonic()))
        if made.fault is not None:
            self.leave(task.backend)
        return made

    def attempt_afresh(self, task: Task, *, readable_guards: bool = False, single_call: bool = False) -> Attempt:
        """The same in a host that has had no task."""
        self.leave(task.backend)
        return self.attempt(task, readable_guards=readable_guards, single_call=single_call)

    def is_wrong_after(self, task: Task, some: Sequence[Candidate]) -> bool:
        """Whether a task is wrong in a fresh host after calls of `some`."""
        self.leave(task.backend)
        host = self.slot_of(task.backend).host
        try:
            for one in some:
                call_task(host, one.task, self.limits.timeout, one.verdict)
        except (HostFault, EarlyVerdict):
            self.leave(task.backend)
            return False
        return self.attempt(task).judgement.verdict in WRONG

    def _started(self, spec: str) -> Host:
        """A host. Raises BackendError, at once where the last ones took long to say that they could not be started."""
        if len(self._waits[spec]) >= _MAX_SLOW_STARTS:
            raise BackendError(f"{self._waits[spec][-1]} It is not tried again.")
        begun = time.monotonic()
        try:
            host = start_host(spec, self.limits)
        except BackendError as error:
            if time.monotonic() - begun > _SLOW_START_SECONDS:
                self._waits[spec].append(str(error))
            raise
        self._waits[spec].clear()
        return host
