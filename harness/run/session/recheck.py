"""A second look at what a host says: in a process of its own, in a fresh one, with guards that can be touched.

A wrong formula is wrong in every process; what is kept from an earlier call, or was done by one, does not show again in
a fresh one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from opproof.core.verdicts import WRONG, Verdict
from opproof.harness.known_failures.known import mark
from opproof.harness.run.attempt import Attempt, as_told_by_itself
from opproof.harness.run.calls import STALE, are_same_answers
from opproof.harness.run.record import make_record
from opproof.harness.run.session.slots import DAMAGE, Slots
from opproof.harness.run.task import Task, op_name_of

#: How many second looks at one operator, mode and verdict may change nothing before there are no more, and how many
#: where the answer seems to be kept from the call before.
_MAX_FUTILE_RECHECKS = 2
_MAX_FUTILE_RECHECKS_OF_KEPT = 16

#: What an earlier case's threads and timers can do to an innocent one.
_INFLICTED = DAMAGE | {Verdict.CRASH, Verdict.TIMEOUT}

_SPOILT = "right when called alone in a new process, wrong after a call with other data"


@dataclass(frozen=True)
class Recheck:
    """The last word on a task; `unlike` is what was seen first, and not again: an earlier task may have done it."""

    attempt: Attempt
    unlike: Attempt | None = None


class Rechecks:
    """Which attempts leave a doubt, and what a second one says; those that change nothing tire."""

    def __init__(self, seats: Slots) -> None:
        self._seats = seats
        self._futile: Counter[tuple[str, str, str, str]] = Counter()  # second looks that changed nothing

    def look_again(self, task: Task, first: Attempt, *, used: bool) -> Recheck:
        """At a task that was asked; `used`: in a host that had had others."""
        verdict, fault = first.judgement.verdict, first.fault
        if self._seats.limits.in_process:
            return Recheck(as_told_by_itself(first))
        if verdict is Verdict.OUT_OF_MEMORY and fault is not None:  # what cases before it left behind is gone
            return Recheck(self._seats.attempt_afresh(task) if used else first)
        kind = (task.backend, op_name_of(task), task.mode, verdict)
        if verdict is Verdict.ERROR and fault is None:  # a backend may raise in all operators
            kind = (task.backend, "", "", verdict)
        tired = self._futile[kind] >= _MAX_FUTILE_RECHECKS
        if verdict in WRONG | _INFLICTED and task.known and mark(make_record(task, first), task.known).known:
            return Recheck(first)  # a process of its own would say the same
        if verdict in WRONG:
            tired = tired and (not first.is_kept or self._futile[kind] >= _MAX_FUTILE_RECHECKS_OF_KEPT)
            look = Recheck(first) if tired else self._at_wrong(task, first, used=used)
            self._futile[kind] += look.attempt is first
            return look
        if used and verdict in _INFLICTED:
            if tired and verdict is not Verdict.CRASH:
                return Recheck(first)
            again = self._seats.attempt_afresh(task)
            if again.judgement.verdict is not verdict:
                return Recheck(again, unlike=first)
            self._futile[kind] += 1
        if fault is not None and fault.guard:
            return Recheck(self._at_the_guard(task, first))
        return Recheck(first)

    def _at_wrong(self, task: Task, first: Attempt, *, used: bool) -> Recheck:
        """Alone in a new process: a wrong formula is wrong there too, state that survives a call is not."""
        alone = self._seats.attempt_afresh(task, single_call=True)
        if alone.judgement.verdict is Verdict.NOT_REPEATABLE:  # of itself: nothing that was kept is to blame
            return Recheck(first.with_verdict(Verdict.NOT_REPEATABLE, alone.judgement.message))
        if alone.judgement.verdict is Verdict.PASS:
            kept = first.with_verdict(Verdict.NOT_REPEATABLE, STALE if first.judgement.stale else _SPOILT)
            again = self._seats.attempt_afresh(task) if used else first
            return Recheck(again, unlike=kept) if again.judgement.verdict is Verdict.PASS else Recheck(kept)
        both = [one.answer.arrays for one in (first, alone) if one.answer is not None]
        if first.judgement.stale and (len(both) < 2 or not are_same_answers(*both)):
            return Recheck(first.with_verdict(Verdict.NOT_REPEATABLE, STALE))
        return Recheck(first)

    def _at_the_guard(self, task: Task, first: Attempt) -> Attempt:
        """Stopped by a signal that unreadable pages send: with soft guards a step out of bounds is survived."""
        soft = self._seats.attempt_afresh(task, readable_guards=True)
        if soft.fault is not None:
            return first
        outside = soft.judgement.verdict is Verdict.OUT_OF_BOUNDS
        what = soft.judgement.message if outside else "a read past the end or before the beginning"
        reason = f"{what} (stopped by a guard page: {first.judgement.message})"
        return first.with_verdict(Verdict.OUT_OF_BOUNDS, reason)
