"""Who left behind what killed or damaged the host later: a timer, a thread, a corrupted heap.

The tasks that the host had are called again in fresh hosts, the last one first and more of them each time, up to the
moment of the harm, and the host is watched for as long as it took. Of the series that shows the harm again the later
part is tried, by halves: its first task without which nothing happens did it. Before them all the task that met the
harm is called alone: it may have done it to itself, or to nobody, as its threads were fast or slow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opproof.cases import Case
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.question import Question, Settled, wanted_of
from opproof.harness.run.task import Task, op_of
from opproof.harness.truth.slices.pose import pose
from opproof.vocabulary.errors import BackendError
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import Verdict

#: The longest series.
MOST = 256
#: Seconds in which a host is watched after its last answer: so many more than the harm took, and twice that, at most.
_WATCH, _LONGEST = 0.3, 6.0

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


def culprit(
    history: Sequence[Suspect],
    victim: Task | None,
    fresh: Callable[[], Host],
    leave: Callable[[], None],
    timeout: float,
) -> Guilty | None:
    """The task of `history`, or `victim`, to blame for harm met now, by `victim` or between tasks; None for nobody."""
    now = time.monotonic()
    last = [] if victim is None else [Suspect(victim, Verdict.PASS, now)]
    history = [*history, *last]

    def again(start: int) -> Harm | None:
        """What happens in a fresh host from the task of number `start` on."""
        watch = min(_WATCH + 2 * (now - history[start].ended), _LONGEST)
        try:
            return _replayed(fresh(), history[start:], watch, timeout)
        except BackendError:
            return None
        finally:
            leave()

    innocent, count = len(history), 1
    while innocent > 0 and len(history) - innocent < MOST:
        start = max(0, len(history) - count)
        if seen := again(start):
            return _narrowed(history, start, innocent, seen, again)
        innocent, count = start, 4 * count
    return None


def _narrowed(
    history: Sequence[Suspect], start: int, innocent: int, seen: Harm, again: Callable[[int], Harm | None]
) -> Guilty:
    """From `start` on it shows, as `seen`; from `innocent` on it does not."""
    while innocent - start > 1:
        middle = (start + innocent) // 2
        if harm := again(middle):
            start, seen = middle, harm
        else:
            innocent = middle
    return Guilty(history[start], seen)


def _replayed(host: Host, suspects: Sequence[Suspect], watch: float, timeout: float) -> Harm | None:
    """The harm that comes of these calls, or soon after them."""
    try:
        for suspect in suspects:
            _call(host, suspect.task, timeout, suspect.verdict)
        ends = time.monotonic() + watch
        while time.monotonic() < ends:
            if not host.alive:
                raise host.fault()
            time.sleep(0.01)
        host.late()
        _call(host, suspects[-1].task, timeout, suspects[-1].verdict)  # it may have become deaf
    except (HostFault, Settled) as seen:
        return Harm(seen.verdict, seen.message)
    return None


def _call(host: Host, task: Task, timeout: float, known: Verdict) -> None:
    """Raises HostFault, and Settled for damage that is not `known` of this task."""
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
