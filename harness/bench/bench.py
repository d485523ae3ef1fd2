"""Cases judged first; those that pass are measured, all backends in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import msgspec
import numpy as np

from opproof.backends.host.blocks import Calls, Stored
from opproof.backends.host.request import name_of
from opproof.cases import Case
from opproof.cases._layouts import cotangent_layout, layouts_of, storage_of
from opproof.harness.bench.facts import Facts, facts_of
from opproof.harness.bench.measure import Effort, measure
from opproof.harness.bench.process import Blocks, Fault, Worker
from opproof.harness.cores import cores
from opproof.harness.run.desk import Desk
from opproof.harness.run.limits import Limits
from opproof.harness.run.question import Wanted, wanted_of
from opproof.harness.run.task import Task, op_of
from opproof.harness.truth.data import to_dtype
from opproof.harness.truth.posed import Posed
from opproof.harness.truth.slices.pose import Pair, pose
from opproof.harness.truth.slices.room import TooLarge
from opproof.reports.bench.record import Caches, Interval, Roofline, Time
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import Verdict

#: By how much more than the roofline nothing can be faster, for each core: caches, and a reference that is wasteful.
_BYTES, _FLOPS = 4, 32


@dataclass(frozen=True)
class Plan:
    """What to measure, and how."""

    tasks: Sequence[Task]  # those of one case and mode after each other
    caches: tuple[Caches, ...]
    effort: Effort
    limits: Limits
    roofline: Roofline


def times(plan: Plan, measured: Callable[[Time], object] = lambda _: None) -> list[Time]:
    """Every case and mode on every backend; `measured` is told of each as it ends."""
    found: list[Time] = []
    desk, workers = Desk(plan.limits), _Workers(plan.limits.timeout)
    with closing(desk), closing(workers):
        for _, group in groupby(plan.tasks, key=lambda t: (t.case, t.mode)):
            for time in _case(list(group), plan, desk, workers):
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


def _case(tasks: Sequence[Task], plan: Plan, desk: Desk, workers: _Workers) -> Iterator[Time]:
    case, mode = Case.parse(tasks[0].case), Mode(tasks[0].mode)
    blank = Time(tasks[0].case, case.op, case.dtype, mode, "", Caches.WARM)
    why = {r.backend: _reason(r.verdict, r.message) for r in desk.results(tasks)}
    right = [t.backend for t in tasks if not why[t.backend]]
    if right:
        op = op_of(case.op, tasks[0].ops)
        try:
            pair = pose(case, op, mode, tasks[0].judge_memory)
        except TooLarge as error:
            why, right = dict.fromkeys(why, str(error)), []
    if right:
        wanted = wanted_of(pair.asked, pair.outputs)
        facts, calls = facts_of(pair.asked, wanted, pair.outputs), _calls(pair, wanted)
        for caches in plan.caches:
            yield from _measured(_told(blank, facts, caches), right, calls, plan, workers)
    for backend, reason in why.items():
        if reason:
            yield _changed(blank, backend=backend, why=reason)


def _measured(blank: Time, backends: Sequence[str], calls: Calls, plan: Plan, workers: _Workers) -> Iterator[Time]:
    """The times of those that can be timed, and why the others cannot; where one dies the rest begin anew."""
    left, in_c = list(backends), {}
    while left:
        timers: dict[str, Blocks] = {}
        at = ""
        try:
            for at in left:
                worker = workers.of(at)
                in_c[at] = bool(worker.ask(calls)["in_c"])
                timers[at] = Blocks(worker, blank.caches is Caches.COLD)
            found = measure(timers, plan.effort)
        except Fault as fault:
            dead = next((s for s in timers if not timers[s].worker.alive), at)
            workers.drop(dead)
            left.remove(dead)
            yield _changed(blank, backend=dead, why=str(fault))
            continue
        for spec in left:
            why = timers[spec].objection or _impossible(found[spec], blank, plan.roofline)
            yield _changed(blank, backend=spec, interval=None if why else found[spec], in_c=in_c[spec], why=why)
        return


def _impossible(interval: Interval, time: Time, roofline: Roofline) -> str:
    """Why nothing can be that fast; empty where it can be."""
    moved = time.bytes / (roofline.cached_bytes_per_second * _BYTES * cores())
    computed = time.flops / (roofline.flops_per_second * _FLOPS * cores())
    least = max(moved, computed)
    if interval.high >= least:
        return ""
    return f"{interval.median:.3g} s is less than this machine can: {least:.3g} s for its bytes and operations"


def _reason(verdict: Verdict, message: str) -> str:
    return "" if verdict is Verdict.PASS else f"{verdict}{': ' if message else ''}{message}"


def _told(blank: Time, facts: Facts, caches: Caches) -> Time:
    return _changed(blank, bytes=facts.bytes, flops=facts.flops, caches=caches)


def _changed(time: Time, **changes: Any) -> Time:
    return msgspec.structs.replace(time, **changes)


def _calls(pair: Pair, wanted: Sequence[Wanted | None]) -> Calls:
    asked = pair.asked
    return Calls(
        op=asked.op.name,
        params=dict(asked.params),
        gradient=asked.mode is Mode.GRADIENT,
        inputs=(_inputs(asked), _inputs(pair.other)),
        cotangents=(_cotangents(asked), _cotangents(pair.other)),
        results=[None if w is None else (name_of(w.dtype), w.shape) for w in wanted],
        needs=list(asked.needs),
    )


def _inputs(posed: Posed) -> list[Stored | None]:
    layouts = layouts_of(posed.case)
    pairs = zip(posed.names, posed.inputs, strict=True)
    return [None if n is None or v is None else _stored(v, posed.case.dtype_of(n), layouts[n]) for n, v in pairs]


def _cotangents(posed: Posed) -> list[Stored | None]:
    layout = cotangent_layout(posed.case)
    return [None if g is None else _stored(g, posed.case.dtype, layout) for g in posed.cotangents]


def _stored(values: Array, dtype: str, layout: str) -> Stored:
    native = to_dtype(values, dtype)
    storage, item = storage_of(native.shape, layout), native.dtype.itemsize
    memory = np.zeros(storage.size * item, np.uint8)
    strides, offset = tuple(s * item for s in storage.strides), storage.offset * item
    np.ndarray(native.shape, native.dtype, memory.data, offset, strides)[...] = native
    return Stored(memory.tobytes(), name_of(native.dtype), native.shape, strides, offset)
