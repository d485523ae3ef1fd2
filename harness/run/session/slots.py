"""The hosts of backends, each with the tasks that it has had; who is charged with damage that shows once.

That is an earlier task that does it again in a fresh host, or nobody. The tasks that the host had are called again in
fresh hosts, the last one first and more of them each time; of the series that shows the damage again the later part is
tried, by halves. Before them the task that met it is called alone. A culprit is charged with what it does to a host of
its own. An answer that is wrong only after others is searched alike. Searches cost processes: a run has only so many,
and then tries operators alone whose cases have done damage.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from opproof.cases import Case
from opproof.core.bisection import bisect
from opproof.core.errors import BackendError
from opproof.core.text import make_plain
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import Attempt, make_requests, run_task
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.record import make_early_record
from opproof.harness.run.request import Request, wanted_of
from opproof.harness.run.task import HostLimits, Task, op_name_of
from opproof.reports import Result

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


#: How often harm is traced back; how often an answer of one operator and mode that others spoil: it has one cause.
_MAX_TRACES = 16
_MAX_TRACES_PER_OPERATOR = 4


class Attribution:
    """The searches of a run."""

    def __init__(self, seats: Slots) -> None:
        self._seats = seats
        self._traces = 0
        self._guilty: set[str] = set()  # operators whose cases have done harm
        self._spoilt: Counter[tuple[str, str, str]] = Counter()  # answers that others spoil

    def of_another_answer(
        self, task: Task, kept: Attempt, history: Sequence[Candidate]
    ) -> tuple[Attempt, tuple[Task, ...]]:
        """What became of an answer that calls of `history` spoil, and which of them do; none where nobody knows."""
        kind, found = (task.backend, op_name_of(task), task.mode), tuple[Task, ...]()
        self._spoilt[kind] += 1
        said = f"who did it was not looked for, after {_MAX_TRACES_PER_OPERATOR} such searches for {op_name_of(task)}"
        if self._spoilt[kind] <= _MAX_TRACES_PER_OPERATOR:
            self._traces += 1
            if self._traces <= _MAX_TRACES:
                found = find_preceding(history, lambda some: self._seats.is_wrong_after(task, some))
            said = _describe_preceding(found) if found else self._untraced
        judgement = kept.judgement
        last = kept.with_verdict(judgement.verdict, f"{judgement.message}; {'seen once: ' * (not found)}{said}")
        return last, found

    def of_harm(
        self, task: Task, met: Attempt, again: Attempt, history: Sequence[Candidate]
    ) -> tuple[Attempt, list[Result]]:
        """What became of a task that `met` harm which did not show `again`, and records of those charged instead."""
        harm, last, charged = EarlyVerdict(met.judgement.verdict, met.judgement.message), again, list[Result]()
        guilty = self._trace(task.backend, history, task, harm)
        if not guilty:
            last = met.with_verdict(harm.verdict, f"{harm.message}; seen once: {self._untraced}")
        for one in guilty:
            if one.suspect.task is task:  # now and then, as fast as its threads are
                last = met.with_verdict(one.harm.verdict, f"{one.harm.message}; not every time")
            else:
                charged += _replace_record(one, harm)
        return last, charged

    def of_a_death(self, spec: str) -> list[Result]:
        """Records of whose fault it is that a backend's host has died since its last answer; the host is left."""
        seat = self._seats.seat_of(spec)
        if seat is None or seat.host.alive:
            return []
        harm = seat.host.fault()
        self._seats.leave(spec)
        if not seat.history or harm.verdict is Verdict.OUT_OF_MEMORY:  # all of them together, as a rule
            return []
        guilty = self._trace(spec, seat.history, None, harm)
        if guilty:
            return [result for one in guilty for result in _replace_record(one, harm)]
        last = seat.history[-1]
        reason = f"between this case and the next {make_plain(harm.message)}; {self._untraced}"
        return [] if last.verdict in FAILED else [make_early_record(last.task, harm.verdict, reason)]

    def _trace(self, spec: str, history: Sequence[Candidate], victim: Task | None, met: Damage) -> list[Culprit]:
        """Who is to blame for harm that `victim` met, or that was met between cases."""
        self._traces += 1
        if self._traces > _MAX_TRACES:  # only whether one did it of whose operator that is known
            history = [s for s in history if op_name_of(s.task) in self._guilty][-1:]
            if not history:
                return []
        self._seats.leave(spec)
        guilty = _Search(self._seats, spec, history, victim).find_culprits(met.verdict)
        self._guilty |= {op_name_of(one.suspect.task) for one in guilty}
        return guilty

    @property
    def _untraced(self) -> str:
        """Why nobody else is charged with harm."""
        if self._traces > _MAX_TRACES:
            return f"who did it was not looked for, after {_MAX_TRACES} such searches in this run"
        return "no case before it does it again in a fresh process"


def _replace_record(guilty: Culprit, met: Damage) -> list[Result]:
    """The record that replaces that of the guilty; none where it has failed already."""
    if guilty.suspect.verdict in FAILED:
        return []
    reason = f"after the call had returned, {guilty.harm.message} (met by a later case as: {met.message})"
    return [make_early_record(guilty.suspect.task, guilty.harm.verdict, make_plain(reason))]


#: The longest series.
MAX_SERIES_TASKS = 256
#: Seconds in which a host is watched after its last answer: so many more than the harm took, and twice that, at most.
_MIN_WATCH_SECONDS = 0.5
_MAX_WATCH_SECONDS = 6.0


#: How harm shows: by a verdict and a message.
Damage: TypeAlias = EarlyVerdict | HostFault


@dataclass(frozen=True)
class Culprit:
    """A task after which it shows again."""

    suspect: Candidate
    harm: Damage


class _Search:
    """Calls of what a host has had, once more, in fresh hosts of its backend; the last of all is what met the harm."""

    def __init__(self, seats: Slots, spec: str, history: Sequence[Candidate], victim: Task | None) -> None:
        self._seats, self._spec, self._history, self._begun = seats, spec, history, time.monotonic()
        last = [] if victim is None else [Candidate(victim, Verdict.PASS, self._begun)]
        self._series = [*history, *last]

    def find_culprits(self, met: Verdict) -> list[Culprit]:
        """The tasks to blame for what was `met`; none where it is nobody.

        Several where harm of another kind came up too, as of two tasks that spoil one host.
        """
        count, stop, own = len(self._history), len(self._series), list[Culprit]()
        if count < stop and (harm := self._call_again(count, stop)):
            own = [Culprit(self._series[count], harm)]
            stop = count  # who does harm by itself hides what others do
            if harm.verdict is met:
                return own
        for start, innocent in iterate_stretches(count):
            if seen := self._call_again(start, stop):
                for one in self._narrow(start, innocent, stop, seen):
                    number = self._series.index(one.suspect)
                    alone = self._call_again(number, number + 1)  # with no call after it
                    own.append(Culprit(one.suspect, alone or one.harm))
                break
        return own

    def _call_again(self, start: int, stop: int) -> Damage | None:
        """What happens in a fresh host from the task of number `start` to before that of `stop`."""
        watch = min(_MIN_WATCH_SECONDS + 2 * (self._begun - self._series[start].ended), _MAX_WATCH_SECONDS)
        try:
            host = self._seats.slot_of(self._spec).host
            return _replay(host, self._series[start:stop], watch, self._seats.limits.timeout)
        except BackendError:
            return None
        finally:
            self._seats.leave(self._spec)

    def _narrow(self, start: int, innocent: int, stop: int, seen: Damage) -> list[Culprit]:
        """From `start` on it shows, as `seen`; from `innocent` on it does not."""
        apart = list[tuple[int, int, Damage]]()  # earlier stretches with harm of a kind of their own

        def shows(middle: int) -> bool:
            nonlocal start, seen
            harm = self._call_again(middle, stop)
            if harm is None:
                return False
            if harm.verdict is not seen.verdict and (other := self._call_again(start, middle)):
                apart.append((start, middle, other))
            start, seen = middle, harm
            return True

        last = bisect(start, innocent, shows)
        others = (self._narrow(begin, end, end, harm) for begin, end, harm in apart)
        return [*chain.from_iterable(others), Culprit(self._series[last], seen)]


def iterate_stretches(count: int) -> Iterator[tuple[int, int]]:
    """Of so many calls where to begin, the last ones first and more each time, and from where on nothing has shown."""
    innocent, some = count, 1
    while innocent > 0 and count - innocent < MAX_SERIES_TASKS:
        start = max(0, count - some)
        yield start, innocent
        innocent, some = start, 4 * some


def _replay(host: Host, suspects: Sequence[Candidate], watch: float, timeout: float) -> Damage | None:
    """The harm that comes of these calls, or soon after them."""
    try:
        for suspect in suspects:
            call_task(host, suspect.task, timeout, suspect.verdict)
        ends = time.monotonic() + watch
        while time.monotonic() < ends:
            if not host.alive:
                raise host.fault()
            time.sleep(0.01)
        host.late()
        call_task(host, suspects[-1].task, timeout, suspects[-1].verdict)  # it may have become deaf
    except (HostFault, EarlyVerdict) as seen:
        return seen.with_traceback(None)  # which would keep what the calls were made with
    return None


#: Whether a task is wrong in a fresh host after calls of these, in their order.
Wrong = Callable[[Sequence[Candidate]], bool]


def find_preceding(history: Sequence[Candidate], wrong: Wrong) -> tuple[Task, ...]:
    """The tasks of `history` that make it wrong again, one where that suffices; none where nothing does."""
    for start, innocent in iterate_stretches(len(history)):
        if wrong(history[start:]):
            some = history[bisect(start, innocent, lambda middle: wrong(history[middle:])) :]
            return tuple(s.task for s in (some[:1] if len(some) > 1 and wrong(some[:1]) else some))
    return ()


def _describe_preceding(tasks: Sequence[Task]) -> str:
    first = tasks[0].case
    if len(tasks) == 1:
        return f"wrong in a fresh process after {first}"
    return f"wrong in a fresh process after {len(tasks)} calls, of which {first} is the first"
