"""Who left behind what killed or damaged the host later: a timer, a thread, a corrupted heap.

The tasks that the host had are called again in fresh hosts, the last one first and more of them each time, up to the
moment of the harm, and the host is watched for as long as it took. Of the series that shows the harm again the later
part is tried, by halves: its first task without which nothing happens did it. Before them all the task that met the
harm is called alone: it may have done it to itself, or to nobody, as its threads were fast or slow. Two tasks may have
spoilt one host, one by a timer and one by a thread: harm of another kind than was met does not end the search.

What a culprit is charged with is what it does to a host of its own: a thread that writes past its input kills a host
as soon as a later call has a guard page there, and is the same fault where none has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from opproof.cases import Case
from opproof.core.errors import BackendError
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.reference.chunks.question import pose
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.question import Question, Settled, wanted_of
from opproof.harness.run.task import Task, op_of

#: The longest series.
MOST = 256
#: Seconds in which a host is watched after its last answer: so many more than the harm took, and twice that, at most.
_WATCH, _LONGEST = 0.5, 6.0

#: What threads, timers and closed files of an earlier case can do to an innocent one whose host lives on.
DAMAGE = frozenset({Verdict.ERROR, Verdict.OUT_OF_BOUNDS, Verdict.INPUT_CHANGED, Verdict.NOT_WRITTEN})


@dataclass(frozen=True)
class Suspect:
    """A task that a host has had, what became of it there, and when (time.monotonic)."""

    task: Task
    verdict: Verdict
    ended: float


@dataclass(frozen=True)
class Harm:
    """How it shows."""

    verdict: Verdict
    message: str


@dataclass(frozen=True)
class Guilty:
    """A task after which it shows again."""

    suspect: Suspect
    harm: Harm


def culprits(
    history: Sequence[Suspect],
    victim: Task | None,
    met: Verdict,
    fresh: Callable[[], Host],
    leave: Callable[[], None],
    timeout: float,
) -> list[Guilty]:
    """The tasks of `history`, or `victim`, to blame for what was `met` now, by `victim` or between tasks.

    Nobody: an empty list. Several where harm of another kind came up too, as of two tasks that spoil one host.
    """
    now = time.monotonic()
    last = [] if victim is None else [Suspect(victim, Verdict.PASS, now)]
    series = [*history, *last]

    def again(start: int, stop: int) -> Harm | None:
        """What happens in a fresh host from the task of number `start` to before that of `stop`."""
        watch = min(_WATCH + 2 * (now - series[start].ended), _LONGEST)
        try:
            return _replayed(fresh(), series[start:stop], watch, timeout)
        except BackendError:
            return None
        finally:
            leave()

    own = [Guilty(last[0], harm) for _ in last if (harm := again(len(history), len(series)))]
    if own and own[0].harm.verdict is met:
        return own
    stop = len(history) if own else len(series)  # who does harm by itself hides what others do
    for start, innocent in stretches(len(history)):
        if seen := again(start, stop):
            guilty = _narrowed(series, start, innocent, stop, seen, again)
            return own + [_alone(series, one, again) for one in guilty]
    return own


def _alone(series: Sequence[Suspect], guilty: Guilty, again: Callable[[int, int], Harm | None]) -> Guilty:
    """`guilty` of what it does with no call after it, if that shows."""
    number = series.index(guilty.suspect)
    return Guilty(guilty.suspect, again(number, number + 1) or guilty.harm)


def stretches(count: int) -> Iterator[tuple[int, int]]:
    """Of so many calls where to begin, the last ones first and more each time, and from where on nothing has shown."""
    innocent, some = count, 1
    while innocent > 0 and count - innocent < MOST:
        start = max(0, count - some)
        yield start, innocent
        innocent, some = start, 4 * some


def _narrowed(
    series: Sequence[Suspect],
    start: int,
    innocent: int,
    stop: int,
    seen: Harm,
    again: Callable[[int, int], Harm | None],
) -> list[Guilty]:
    """From `start` on it shows, as `seen`; from `innocent` on it does not."""
    while innocent - start > 1:
        middle = (start + innocent) // 2
        harm = again(middle, stop)
        if harm is None:
            innocent = middle
        elif harm.verdict is not seen.verdict and (apart := again(start, middle)):
            others = _narrowed(series, middle, innocent, stop, harm, again)
            return _narrowed(series, start, middle, middle, apart, again) + others
        else:
            start, seen = middle, harm
    return [Guilty(series[start], seen)]


def _replayed(host: Host, suspects: Sequence[Suspect], watch: float, timeout: float) -> Harm | None:
    """The harm that comes of these calls, or soon after them."""
    try:
        for suspect in suspects:
            called(host, suspect.task, timeout, suspect.verdict)
        ends = time.monotonic() + watch
        while time.monotonic() < ends:
            if not host.alive:
                raise host.fault()
            time.sleep(0.01)
        host.late()
        called(host, suspects[-1].task, timeout, suspects[-1].verdict)  # it may have become deaf
    except (HostFault, Settled) as seen:
        return Harm(seen.verdict, seen.message)
    return None


def called(host: Host, task: Task, timeout: float, known: Verdict) -> None:
    """Call a task's case, and judge nothing. Raises HostFault, and Settled for damage that is not `known` of it."""
    case = Case.parse(task.case)
    op = op_of(case.op, task.ops)
    try:
        pair = pose(case, op, Mode(task.mode), task.judge_memory)
        threads = max(task.threads, default=0)
        host.call(Question(pair.asked, wanted_of(pair.asked, pair.outputs), threads=threads), timeout)
    except HostFault:
        raise
    except Settled as settled:
        if settled.verdict in DAMAGE and settled.verdict is not known:
            raise
    except Exception:  # what the references do is not what is looked for
        return
