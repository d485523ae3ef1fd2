"""Cases judged first; those that pass are measured, all backends in turn."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from random import Random, SystemRandom

from msgspec import structs

from opproof.backends.worker.timing import TimedCalls
from opproof.cases import Case
from opproof.core.errors import BackendError
from opproof.core.system import count_cores, describe_host
from opproof.core.verdicts import Mode, Verdict
from opproof.harness import __version__
from opproof.harness.bench.cost import facts_of
from opproof.harness.bench.measure import Effort, measure
from opproof.harness.bench.output_check import SpotCheckAnswers, Unseen, calls_of, draw_unseen, find_fault
from opproof.harness.bench.process import Blocks, Fault, Worker
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.chunks.memory_budget import TooLarge
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.request import wanted_of
from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task
from opproof.reports.bench.record import Bench, Caches, Interval, Roofline, Time

#: By how much more than the roofline nothing can be faster, for each core: caches, and a reference that is wasteful.
_MAX_BYTES_SPEEDUP = 4
_MAX_FLOPS_SPEEDUP = 32


@dataclass(frozen=True)
class Plan:
    """What to measure, and how."""

    tasks: Sequence[Task]  # those of one case and mode after each other
    caches: tuple[Caches, ...]
    effort: Effort
    limits: HostLimits
    roofline: Roofline
    chance: Random = field(default_factory=SystemRandom)  # of when answers are looked at, and with which values


def measure_times(plan: Plan, measured: Callable[[Time], object] = lambda _: None) -> list[Time]:
    """Every case and mode on every backend; `measured` is told of each as it ends."""
    found: list[Time] = []
    desk, workers = Session(plan.limits), _Workers(plan.limits.timeout)
    with closing(desk), closing(workers):
        for _, group in groupby(plan.tasks, key=lambda t: (t.case, t.mode)):
            for time in _measure_case(list(group), plan, desk, workers):
                measured(time)
                found.append(time)
    return found


class _Workers:
    """A process for every backend, started when it is first asked for and after it died."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._running: dict[str, Worker] = {}

    def of(self, spec: str) -> Worker:
        if spec not in self._running:
            self._running[spec] = Worker(spec, self._timeout)
        return self._running[spec]

    def drop(self, spec: str) -> None:
        worker = self._running.pop(spec, None)
        if worker is not None:
            worker.close()

    def close(self) -> None:
        for spec in list(self._running):
            self.drop(spec)


def _measure_case(tasks: Sequence[Task], plan: Plan, desk: Session, workers: _Workers) -> Iterator[Time]:
    case, mode = Case.parse(tasks[0].case), Mode(tasks[0].mode)
    blank = Time(tasks[0].case, case.op, case.dtype, mode, "", Caches.WARM)
    why = {r.backend: _reason_of(r.verdict, r.message) or "wrong call" * bool(case.wrong) for r in desk.results(tasks)}
    right = [t for t in tasks if not why[t.backend]]
    if right:
        op = op_of(case.op, tasks[0].ops)
        try:
            pair = make_fitting_question(case, op, mode, tasks[0].judge_memory)
            asked = draw_unseen(case, op, mode, plan.chance, tasks[0].judge_memory)
        except TooLarge as error:
            why, right = dict.fromkeys(why, str(error)), []
    if right:
        wanted = wanted_of(pair.case_data, pair.outputs)
        facts, calls = facts_of(pair.case_data, wanted, pair.outputs), calls_of(pair, wanted)
        for caches in plan.caches:
            costed = structs.replace(blank, bytes=facts.bytes, flops=facts.flops, caches=caches)
            yield from _measure_tasks(costed, right, calls, asked, plan, workers, desk)
    for backend, reason in why.items():
        if reason:
            yield structs.replace(blank, backend=backend, why=reason)


def _measure_tasks(
    blank: Time, tasks: Sequence[Task], timed: TimedCalls, unseen: Unseen | None, plan: Plan, workers: _Workers,
    desk: Session,
) -> Iterator[Time]:  # fmt: skip
    """The times of those that can be timed, and why the others cannot; where one dies the rest begin anew.

    `unseen` is the same call with other values, where its answers can be looked at.
    """
    left, in_c = {t.backend: t for t in tasks}, {}
    while left:
        timers: dict[str, Blocks] = {}
        at = ""
        try:
            for at in left:
                worker = workers.of(at)
                in_c[at] = bool(worker.ask(timed)["in_c"])
                timers[at] = Blocks(worker, blank.caches is Caches.COLD, unseen)
            found = measure(timers, plan.effort, {s: t.look for s, t in timers.items()}, plan.chance)
        except Fault as error:
            dead = next((s for s in timers if not timers[s].worker.alive), at)
            workers.drop(dead)
            del left[dead]
            yield structs.replace(blank, backend=dead, why=str(error))
            continue
        for spec, task in left.items():
            try:
                wrong = _find_wrong(timers[spec].answers, unseen, task, desk)
                why = wrong or timers[spec].objection or _explain_impossible(found[spec], blank, plan.roofline)
            except (BackendError, HostFault, EarlyVerdict) as error:
                wrong, why = "", f"it does not tell by what its answers are to be judged: {error}"
            yield structs.replace(
                blank, backend=spec, interval=None if why else found[spec], in_c=in_c[spec],
                looks=timers[spec].answers.looks, wrong=bool(wrong), why=why,
            )  # fmt: skip
        return


def _find_wrong(answers: SpotCheckAnswers, asked: Unseen | None, task: Task, desk: Session) -> str:
    """What is wrong with the answers of timed calls, in words; empty where nothing is. Raises as Desk.rules does."""
    return "" if asked is None else find_fault(answers, asked, desk.rules(task), partial(_verdict_of, task, desk))


def _verdict_of(task: Task, desk: Session, case: Case) -> Verdict:
    return Verdict(desk.results([replace(task, case=str(case))])[-1].verdict)


def _explain_impossible(interval: Interval, time: Time, roofline: Roofline) -> str:
    """Why nothing can be that fast; empty where it can be."""
    moved = time.bytes / (roofline.cached_bytes_per_second * _MAX_BYTES_SPEEDUP * count_cores())
    computed = time.flops / (roofline.flops_per_second * _MAX_FLOPS_SPEEDUP * count_cores())
    least = max(moved, computed)
    if interval.high >= least:
        return ""
    return f"{interval.median:.3g} s is less than this machine can: {least:.3g} s for its bytes and operations"


def _reason_of(verdict: Verdict, message: str) -> str:
    return "" if verdict is Verdict.PASS else f"{verdict}{': ' if message else ''}{message}"


def bench_of(roofline: Roofline, times: Sequence[Time]) -> Bench:
    """The record of a bench that ends now."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Bench(__version__, now, describe_host(), roofline, tuple(times))
