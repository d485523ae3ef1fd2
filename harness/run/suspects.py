"""Who left behind what killed the host later: a timer, a thread, a corrupted heap.

The tasks that the dead host had are called again in fresh hosts, the last ones first and more of them each time, and
the host is watched for a while after its last answer. Of the first series that ends in a death, halves are tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from opproof.cases import Case
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.question import Question, wanted_of
from opproof.harness.run.task import Task, op_of
from opproof.harness.truth.posed import pose
from opproof.vocabulary.errors import BackendError
from opproof.vocabulary.modes import Mode

#: Seconds in which a host is watched after its last answer.
LINGER = 1.5
#: The longest series, counted back from the death.
MOST = 256


@dataclass(frozen=True)
class Guilty:
    """A task after which a host dies, and how."""

    task: Task
    how: str


def culprit(
    history: Sequence[Task], fresh: Callable[[], Host], leave: Callable[[], None], timeout: float
) -> Guilty | None:
    """The task of `history` after which a fresh host dies again; None where none is found."""

    def dies(tasks: Sequence[Task]) -> str:
        try:
            return _replayed(fresh(), tasks, timeout)
        except BackendError:
            return ""
        finally:
            leave()

    end, count = len(history), 1
    while end > 0 and len(history) - end < MOST:
        window = history[max(0, end - count) : end]
        if how := dies(window):
            return _narrowed(window, how, dies)
        end, count = end - count, 4 * count
    return None


def _narrowed(window: Sequence[Task], how: str, dies: Callable[[Sequence[Task]], str]) -> Guilty | None:
    while len(window) > 1:
        half = len(window) // 2
        for part in (window[half:], window[:half]):
            if again := dies(part):
                window, how = part, again
                break
        else:
            return None  # only together
    return Guilty(window[0], how)


def _replayed(host: Host, tasks: Sequence[Task], timeout: float) -> str:
    """How the host dies of these calls, or soon after them; empty where it lives."""
    for task in tasks:
        try:
            _call(host, task, timeout)
        except HostFault as fault:
            return fault.message
    ends = time.monotonic() + LINGER
    while time.monotonic() < ends:
        if not host.alive:
            return host.fault().message
        time.sleep(0.01)
    return ""


def _call(host: Host, task: Task, timeout: float) -> None:
    case = Case.parse(task.case)
    op = op_of(case.op, task.ops)
    try:
        pair = pose(case, op, Mode(task.mode))
        host.call(Question(pair.asked, wanted_of(pair.asked, pair.other.outputs)), timeout)
    except HostFault:
        raise
    except Exception:  # how a call ends that its host survives, Settled or not, is not what is looked for
        return
