"""Cases judged first; those that pass are measured, all backends in turn, beside what they cost at least.

That is bytes and operations, and what this machine can: copies and products.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from random import Random, SystemRandom

import numpy as np
from msgspec import structs

from opproof.backends.worker.timing import TimedCalls
from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.system import count_cores, describe_host
from opproof.core.verdicts import Mode, Verdict
from opproof.harness import __version__
from opproof.harness.bench.measure import Effort, measure
from opproof.harness.bench.process import (
    Blocks,
    Fault,
    Unseen,
    Worker,
    calls_of,
    draw_unseen,
    find_fault,
)
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.chunks.memory_budget import TooLarge
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Question, evaluate_forward, evaluate_vjp
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.request import Wanted, wanted_of
from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops._operations import Count, wrap_array
from opproof.reports.bench.record import Bench, Caches, Interval, Roofline, Time


@dataclass(frozen=True)
class CallCost:
    bytes: int  # of all inputs and cotangents, read once, and all results, written once
    flops: int  # of the reference as it is written; a transcendental function is one


def facts_of(posed: Question, wanted: tuple[Wanted | None, ...], outputs: Sequence[Array]) -> CallCost:
    """Inputs are read once and results written once, in their dtypes; `outputs` may have any values."""
    named = (*zip(posed.names, posed.inputs, strict=True), *((None, g) for g in posed.cotangents))
    given = {id(v): (v, posed.case.dtype_of(name)) for name, v in named if v is not None}
    read = sum(int(v.size) * to_dtype(v.reshape(-1)[:1], dtype).dtype.itemsize for v, dtype in given.values())
    written = sum(int(np.prod(w.shape)) * w.dtype.itemsize for w in wanted if w is not None)
    return CallCost(read + written, _count_flops(posed, outputs))


def _count_flops(posed: Question, outputs: Sequence[Array]) -> int:
    """Counted, or 0 where the reference does not compute on arrays that count."""
    count = Count()

    def counting(values: Array | None) -> Array | None:
        if values is None or values.dtype.kind in "iub":
            return values
        return wrap_array(np.asarray(values, np.float32), count)  # a scalar is no array

    inputs = [counting(v) for v in posed.inputs]
    try:
        if posed.mode is Mode.FORWARD:
            evaluate_forward(posed.op, inputs, posed.params)
        else:
            with ignore_fp_warnings():
                cotangents = [counting(g) for g in posed.cotangents]
                evaluate_vjp(posed.op, inputs, posed.params, cotangents, [counting(y) for y in outputs])
    except (TypeError, ValueError, AttributeError, IndexError):
        return 0
    return count.total


#: Elements, elements, rows.
_UNCACHED_ELEMENTS = 2**26
_CACHED_ELEMENTS = 2**16
_MATRIX_ROWS = 1024


def measure_roofline(repeats: int = 5) -> Roofline:
    """Measured now, the best of a few times each; takes about a second."""
    return Roofline(
        _measure_copy(_UNCACHED_ELEMENTS // 4, repeats),
        _measure_copy(_CACHED_ELEMENTS // 4, 50 * repeats),
        _measure_product(repeats),
    )


def _measure_copy(elements: int, repeats: int) -> float:
    source, target = np.ones(elements, np.float32), np.ones(elements, np.float32)
    return 2 * source.nbytes / _measure_best(lambda: np.copyto(target, source), repeats)


def _measure_product(repeats: int) -> float:
    a = np.ones((_MATRIX_ROWS, _MATRIX_ROWS), np.float32)
    out = np.empty_like(a)
    return 2 * _MATRIX_ROWS**3 / _measure_best(lambda: np.matmul(a, a, out=out), repeats)


def _measure_best(call: Callable[[], object], repeats: int) -> float:
    spent = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        call()
        spent.append(time.perf_counter() - started)
    return max(min(spent[1:]), 1e-9)


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
    workers: dict[str, Worker] = {}  # by backend, started when it is first asked for and after it died
    with Session(plan.limits) as desk, ExitStack() as stack:
        stack.callback(lambda: list(map(Worker.close, workers.values())))
        for _, group in groupby(plan.tasks, key=lambda t: (t.case, t.mode)):
            for time in _measure_case(list(group), plan, desk, workers):
                measured(time)
                found.append(time)
    return found


def _measure_case(tasks: Sequence[Task], plan: Plan, desk: Session, workers: dict[str, Worker]) -> Iterator[Time]:
    case, mode = Case.parse(tasks[0].case), Mode(tasks[0].mode)
    blank = Time(tasks[0].case, case.op, case.dtype, mode, "", Caches.WARM)
    judged = {r.backend: r for r in desk.results(tasks)}
    why = {s: _reason_of(r.verdict, r.message) or "wrong call" * bool(case.wrong) for s, r in judged.items()}
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
            for time in _measure_tasks(costed, right, calls, asked, plan, workers, desk):
                one = judged[time.backend]
                units = None if one.units is None else float(one.units)
                yield structs.replace(time, units=units, rms=one.rms)
    for backend, reason in why.items():
        if reason:
            yield structs.replace(blank, backend=backend, why=reason)


def _measure_tasks(
    blank: Time, tasks: Sequence[Task], timed: TimedCalls, unseen: Unseen | None, plan: Plan,
    workers: dict[str, Worker], desk: Session,
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
                worker = workers[at] = workers.get(at) or Worker(at, plan.limits.timeout)
                in_c[at] = bool(worker.ask(timed)["in_c"])
                timers[at] = Blocks(worker, blank.caches is Caches.COLD, unseen)
            found = measure(timers, plan.effort, {s: t.look for s, t in timers.items()}, plan.chance)
        except Fault as error:
            dead = next((s for s in timers if not timers[s].worker.alive), at)
            if dead in workers:
                workers.pop(dead).close()
            del left[dead]
            yield structs.replace(blank, backend=dead, why=str(error))
            continue
        for spec, task in left.items():
            try:
                again = partial(_judge_again, task, desk)
                wrong = "" if unseen is None else find_fault(timers[spec].answers, unseen, desk.rules(task), again)
                why = wrong or timers[spec].objection or _explain_impossible(found[spec], blank, plan.roofline)
            except (BackendError, HostFault, EarlyVerdict) as error:
                wrong, why = "", f"it does not tell by what its answers are to be judged: {error}"
            yield structs.replace(
                blank, backend=spec, interval=None if why else found[spec], in_c=in_c[spec],
                looks=timers[spec].answers.looks, wrong=bool(wrong), why=why,
            )  # fmt: skip
        return


def _judge_again(task: Task, desk: Session, case: Case) -> Verdict:
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
