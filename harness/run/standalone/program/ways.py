"""Ways of calling that no judge has."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from .job import Arrays, Job, are_shared, copy_results, copy_together, fill_data, is_other

#: Calls for the same numbers before others lie in their memory, as many as a loop that has warmed up has made.
EQUAL = 600


def try_ways(job: Job, first: Arrays, other: Arrays, seconds: float) -> Iterator[tuple[str, Arrays, Arrays | None]]:
    """Ways of calling: what a call alone gives there, and what came; None where a call is refused there."""
    yield "thread", first, call_in_thread(lambda: job.answer("asked"))
    yield "loop", first, in_a_loop(lambda: job.answer("asked"))
    data = job.fresh("asked")
    yield "steady", first, copy_results(repeat_call(partial(job.call, data), EQUAL, seconds))
    yield "refilled", other, copy_results(job.call(fill_data(data, job.of["data"]["other"])))
    if "element" in job.of["data"]:  # looked at in any case: it may be taken for that without the change
        job.call(fill_data(data, job.of["data"]["asked"]))
        yield "element", (), copy_results(job.call(fill_data(data, job.of["data"]["element"])))
    yield "batches", other, of_batches(job)


def repeat_call(call: Callable[[], list[Any]], count: int, seconds: float) -> list[Any]:
    """What the last of so many calls gives, or of those that so many seconds have room for."""
    last, until = call(), time.monotonic() + seconds
    for _ in range(count - 1):
        if time.monotonic() > until:
            break
        last = call()
    return last


def of_batches(job: Job) -> list[Any]:
    """What the other numbers give right after the asked, each beside the other in one array, as batches are."""
    (xs, gs), (ys, hs) = job.of["data"]["asked"], job.of["data"]["other"]
    pairs = [
        (None, None) if x is None else copy_together([x, y], job.alignment)
        for x, y in zip((*xs, *gs), (*ys, *hs), strict=True)
    ]
    firsts, seconds = [a for a, _ in pairs], [b for _, b in pairs]
    job.call((firsts[: len(xs)], firsts[len(xs) :]))
    return copy_results(job.call((seconds[: len(xs)], seconds[len(xs) :])))


def call_in_thread(call: Callable[[], list[Any]]) -> list[Any] | None:
    """What another thread gets; None where a call there raises, as who belongs to one thread may."""
    got = list[list[Any]]()

    def run() -> None:
        with suppress(Exception):
            got.append(call())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return got[0] if got else None


def in_a_loop(call: Callable[[], list[Any]]) -> list[Any] | None:
    """What a running loop of asyncio gets; None where a call there raises, as who starts one may."""

    async def run() -> list[Any]:
        return call()

    with suppress(Exception):
        return asyncio.run(run())
    return None


def shares_by_numbers(job: Job) -> bool:
    """Whether a result is an input's own memory for some numbers alone: for these, tiny ones or those of one sign."""
    said = set[bool]()
    for change in (np.positive, np.abs, lambda x: -np.abs(x), lambda x: x * x.dtype.type(2**-10)):
        inputs, cotangents = job.fresh("asked")
        with suppress(Exception):  # of numbers that it is not made for
            inputs = [x if x is None or x.dtype.kind in "iub" else change(x) for x in inputs]
            said.add(are_shared([*inputs, *cotangents], job.call((inputs, cotangents))))
    return len(said) > 1


def keeps_parameters(job: Job) -> bool:
    """Whether a number that is changed in a dictionary of parameters gives something else than in a new one."""
    params = dict(job.of["params"])
    name = next((n for n, v in params.items() if isinstance(v, float) and v), None)
    if name is None:
        return False
    with suppress(Exception):  # of a number that it is not made for
        job.call(job.fresh("asked"), params)
        params[name] *= 0.5
        again = copy_results(job.call(job.fresh("asked"), params))
        return is_other(copy_results(job.call(job.fresh("asked"), dict(params))), again)
    return False
