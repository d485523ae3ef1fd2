"""Time beside truth: the candidate, eager and compiled PyTorch in turn, with the error of each, at the inputs as given.

The judge's clock measures, in blocks of calls from which one call's way to the candidate and back is taken off. All
sides are called alike, so that what a call through the check costs is in all of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from opproof.core.verdicts import Mode
from opproof.harness.bench.measure import Effort, Timer, measure
from opproof.harness.check.call.exchange import CallRequest, ReplyTensor
from opproof.harness.check.call.perform import perform
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.subject import as_call, in_dtype
from opproof.harness.check.judge.compare import compare
from opproof.harness.check.judge.outcome import VariantResult
from opproof.harness.check.tensors import kind_of
from opproof.harness.reference.question import Expected
from opproof.reports.bench.record import Interval
from opproof.reports.check import CANDIDATE, SideTime

#: Seconds of calls of each side, in all visits; and of a block, beside the way of a call.
_BUDGET = 1.0
_BLOCK_SECONDS = 0.02
#: A block is so many times as long as the way of a call, whose changes then matter little.
_MIN_BLOCK_RATIO = 4
#: Half of an interval, as a share of its median, at which a measurement is done.
_INTERVAL_WIDTH = 0.03
#: Calls of which the fastest says how long the way is.
_WAY_CALLS = 5


def measure_times(candidate: CallFn, reference: Reference, first: VariantResult) -> tuple[SideTime, ...]:
    """Time and error of each side in each mode; nothing where the inputs as given have no truth.

    A side that raises is left out, as compiled PyTorch where there is no compiler.
    """
    if first.facts is None or first.truth is None:
        return ()
    asked = {Mode.FORWARD: first.facts.request.plain}
    if first.facts.request.cotangents:
        asked[Mode.GRADIENT] = first.facts.request
    truth = {Mode.FORWARD: first.truth.outputs, Mode.GRADIENT: first.truth.gradients}
    found = list[SideTime]()
    plain = asked[Mode.FORWARD]
    eager = as_call(in_dtype(reference.subject, plain.tensors), reference.form)
    sides: dict[str, CallFn] = {CANDIDATE: candidate, "eager": partial(perform, eager)}
    if (compiled := _ask_compiled(reference, plain)) is not None:
        sides["torch.compile"] = compiled
    for mode, request in asked.items():
        replies = {name: ask(request) for name, ask in sides.items()}
        answered = {name: sides[name] for name, reply in replies.items() if not (reply.error or reply.failed)}
        intervals = _measure_sides(answered, request)
        for name, interval in intervals.items():
            got = replies[name].outputs if mode is Mode.FORWARD else replies[name].gradients
            found.append(SideTime(name, mode, interval, *_measure_error(got, truth[mode])))
    return tuple(found)


def _ask_compiled(reference: Reference, request: CallRequest) -> CallFn | None:
    """The reference by PyTorch's compiler; None where that does not even load."""
    import torch

    try:
        call = as_call(torch.compile(in_dtype(reference.subject, request.tensors)), reference.form)
    except Exception:
        return None
    return partial(perform, call)


def _measure_sides(sides: Mapping[str, CallFn], request: CallRequest) -> dict[str, Interval]:
    timers = {name: _make_timer(ask, request) for name, ask in sides.items()}
    block = max(_BLOCK_SECONDS, _MIN_BLOCK_RATIO * max((way for _, way in timers.values()), default=0.0))
    effort = Effort(width=_INTERVAL_WIDTH, budget=max(_BUDGET, 8 * block), block=block, visits=2)
    return measure({name: timer for name, (timer, _) in timers.items()}, effort)


def _make_timer(ask: CallFn, request: CallRequest) -> tuple[Timer, float]:
    """What makes blocks of calls, and how long one call's way is beside the call."""

    def spend(repeats: int) -> float:
        start = time.perf_counter()
        ask(replace(request, repeats=repeats))
        return time.perf_counter() - start

    way = min(spend(1) for _ in range(_WAY_CALLS))

    def timer(calls: int) -> float:
        return max(spend(calls + 1) - way, 1e-9 * calls)

    return timer, way


def _measure_error(
    got: Sequence[ReplyTensor | None], expected: Sequence[Expected | None]
) -> tuple[float | None, float | None]:
    """The largest error and the RMS over all elements, in units; None where nothing can be compared."""
    units = [
        compare(y.values, e, kind_of(y.dtype) or "f32").units.ravel()
        for y, e in zip(got, expected, strict=False)
        if y is not None and e is not None and y.values.shape == e.values.shape and y.values.size
    ]
    if not units:
        return None, None
    joined: Any = np.concatenate(units)
    return float(np.max(joined)), float(np.sqrt(np.mean(np.square(joined))))
