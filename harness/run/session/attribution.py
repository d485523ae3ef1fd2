"""Who is charged with damage that shows once: an earlier task that does it again in a fresh host, or nobody.

The tasks that the host had are called again in fresh hosts, the last one first and more of them each time; of the
series that shows the damage again the later part is tried, by halves. Before them the task that met it is called alone.
A culprit is charged with what it does to a host of its own. An answer that is wrong only after others is searched
alike. Searches cost processes: a run has only so many, and then tries operators alone whose cases have done damage.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from opproof.core.bisection import bisect
from opproof.core.errors import BackendError
from opproof.core.text import make_plain
from opproof.core.verdicts import FAILED, Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.run.attempt import Attempt
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.record import make_early_record
from opproof.harness.run.session.slots import Candidate, Slots, call_task
from opproof.harness.run.task import Task, op_name_of
from opproof.reports import Result

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
        host, leave = lambda: self._seats.slot_of(spec).host, lambda: self._seats.leave(spec)
        guilty = find_culprits(history, victim, met.verdict, host, leave, self._seats.limits.timeout)
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


def find_culprits(
    history: Sequence[Candidate],
    victim: Task | None,
    met: Verdict,
    fresh: Callable[[], Host],
    leave: Callable[[], None],
    timeout: float,
) -> list[Culprit]:
    """The tasks of `history`, or `victim`, to blame for what was `met` now, by `victim` or between tasks.

    Nobody: an empty list. Several where harm of another kind came up too, as of two tasks that spoil one host.
    """
    now = time.monotonic()
    last = [] if victim is None else [Candidate(victim, Verdict.PASS, now)]
    series = [*history, *last]

    def again(start: int, stop: int) -> Damage | None:
        """What happens in a fresh host from the task of number `start` to before that of `stop`."""
        watch = min(_MIN_WATCH_SECONDS + 2 * (now - series[start].ended), _MAX_WATCH_SECONDS)
        try:
            return _replay(fresh(), series[start:stop], watch, timeout)
        except BackendError:
            return None
        finally:
            leave()

    own = [Culprit(last[0], harm) for _ in last if (harm := again(len(history), len(series)))]
    if own and own[0].harm.verdict is met:
        return own
    stop = len(history) if own else len(series)  # who does harm by itself hides what others do
    for start, innocent in iterate_stretches(len(history)):
        if seen := again(start, stop):
            for one in _narrow_culprits(series, start, innocent, stop, seen, again):
                number = series.index(one.suspect)
                own.append(Culprit(one.suspect, again(number, number + 1) or one.harm))  # with no call after it
            break
    return own


def iterate_stretches(count: int) -> Iterator[tuple[int, int]]:
    """Of so many calls where to begin, the last ones first and more each time, and from where on nothing has shown."""
    innocent, some = count, 1
    while innocent > 0 and count - innocent < MAX_SERIES_TASKS:
        start = max(0, count - some)
        yield start, innocent
        innocent, some = start, 4 * some


def _narrow_culprits(
    series: Sequence[Candidate],
    start: int,
    innocent: int,
    stop: int,
    seen: Damage,
    again: Callable[[int, int], Damage | None],
) -> list[Culprit]:
    """From `start` on it shows, as `seen`; from `innocent` on it does not."""
    apart = list[tuple[int, int, Damage]]()  # earlier stretches with harm of a kind of their own

    def shows(middle: int) -> bool:
        nonlocal start, seen
        harm = again(middle, stop)
        if harm is None:
            return False
        if harm.verdict is not seen.verdict and (other := again(start, middle)):
            apart.append((start, middle, other))
        start, seen = middle, harm
        return True

    last = bisect(start, innocent, shows)
    others = (_narrow_culprits(series, begin, end, end, harm, again) for begin, end, harm in apart)
    return [*chain.from_iterable(others), Culprit(series[last], seen)]


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
        return seen
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
