"""Who is charged with what shows once: an earlier task that does it again in a fresh host, or nobody.

Searches cost processes, so a run has only so many; afterwards only operators whose cases have done harm are tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from opproof.core.text import plain
from opproof.core.verdicts import FAILED, Verdict
from opproof.harness.run.attempt import Attempt
from opproof.harness.run.desk.seats import Seats
from opproof.harness.run.desk.spoilt import before
from opproof.harness.run.desk.suspects import Guilty, Harm, Suspect, culprits
from opproof.harness.run.record import settled, with_verdict
from opproof.harness.run.task import Task, op_name
from opproof.reports import Result

#: How often harm is traced back; how often an answer of one operator and mode that others spoil: it has one cause.
_TRACES, _OF_ONE = 16, 4


class Blame:
    """The searches of a run."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self._traces = 0
        self._guilty: set[str] = set()  # operators whose cases have done harm
        self._spoilt: Counter[tuple[str, str, str]] = Counter()  # answers that others spoil

    def of_another_answer(
        self, task: Task, kept: Attempt, history: Sequence[Suspect]
    ) -> tuple[Attempt, tuple[Task, ...]]:
        """What became of an answer that calls of `history` spoil, and which of them do; none where nobody knows."""
        kind, found = (task.backend, op_name(task), task.mode), None
        self._spoilt[kind] += 1
        said = f"who did it was not looked for, after {_OF_ONE} such searches for {op_name(task)}"
        if self._spoilt[kind] <= _OF_ONE:
            self._traces += 1
            if self._traces <= _TRACES:
                found = before(history, lambda some: self._seats.is_wrong_after(task, some))
            said = self._untraced if found is None else found.said
        judgement = kept.judgement
        last = with_verdict(kept, judgement.verdict, f"{judgement.message}; {'seen once: ' * (found is None)}{said}")
        return last, () if found is None else found.tasks

    def of_harm(
        self, task: Task, met: Attempt, again: Attempt, history: Sequence[Suspect]
    ) -> tuple[Attempt, list[Result]]:
        """What became of a task that `met` harm which did not show `again`, and records of those charged instead."""
        harm, last, charged = Harm(met.judgement.verdict, met.judgement.message), again, list[Result]()
        guilty = self._traced(task.backend, history, task, harm)
        if not guilty:
            last = with_verdict(met, harm.verdict, f"{harm.message}; seen once: {self._untraced}")
        for one in guilty:
            if one.suspect.task is task:  # now and then, as fast as its threads are
                last = with_verdict(met, one.harm.verdict, f"{one.harm.message}; not every time")
            else:
                charged += _charged(one, harm)
        return last, charged

    def of_a_death(self, spec: str) -> list[Result]:
        """Records of whose fault it is that a backend's host has died since its last answer; the host is left."""
        seat = self._seats.taken(spec)
        if seat is None or seat.host.alive:
            return []
        fault = seat.host.fault()
        self._seats.leave(spec)
        if not seat.history or fault.verdict is Verdict.OUT_OF_MEMORY:  # all of them together, as a rule
            return []
        harm = Harm(fault.verdict, fault.message)
        guilty = self._traced(spec, seat.history, None, harm)
        if guilty:
            return [result for one in guilty for result in _charged(one, harm)]
        last = seat.history[-1]
        reason = f"between this case and the next {plain(harm.message)}; {self._untraced}"
        return [] if last.verdict in FAILED else [settled(last.task, harm.verdict, reason)]

    def _traced(self, spec: str, history: Sequence[Suspect], victim: Task | None, met: Harm) -> list[Guilty]:
        """Who is to blame for harm that `victim` met, or that was met between cases."""
        self._traces += 1
        if self._traces > _TRACES:  # only whether one did it of whose operator that is known
            history = [s for s in history if op_name(s.task) in self._guilty][-1:]
            if not history:
                return []
        self._seats.leave(spec)
        host, leave = lambda: self._seats.seat(spec).host, lambda: self._seats.leave(spec)
        guilty = culprits(history, victim, met.verdict, host, leave, self._seats.limits.timeout)
        self._guilty |= {op_name(one.suspect.task) for one in guilty}
        return guilty

    @property
    def _untraced(self) -> str:
        """Why nobody else is charged with harm."""
        if self._traces > _TRACES:
            return f"who did it was not looked for, after {_TRACES} such searches in this run"
        return "no case before it does it again in a fresh process"


def _charged(guilty: Guilty, met: Harm) -> list[Result]:
    """The record that replaces that of the guilty; none where it has failed already."""
    if guilty.suspect.verdict in FAILED:
        return []
    reason = f"after the call had returned, {guilty.harm.message} (met by a later case as: {met.message})"
    return [settled(guilty.suspect.task, guilty.harm.verdict, plain(reason))]
