"""Answer what lies in a folder, and leave the answers beside it: python -m NAME MODULE FOLDER SECONDS [PLACE].

Every job is asked once, then in other ways, one step after the other: by two threads last, which some do not survive.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .job import (
    Arrays,
    Job,
    TensorJob,
    Told,
    are_shared,
    copy_results,
    copy_together,
    fill_data,
    is_other,
    make_tensor_steps,
)

#: Calls that a program makes at least, before what it asks comes a second time.
AT_LEAST = 32
#: Seconds that the equal calls of a job may take.
SECONDS = 0.3
#: Jobs from which on it is worth its seconds to import PyTorch.
MANY = 8


def main(module: str, there: str, seconds: str, place: str = ".") -> None:
    """Answer what lies `there` by a module that lies at `place`; begin nothing new after so many seconds."""
    sys.path.insert(0, str(Path(place).resolve()))
    loaded = importlib.import_module(module)
    files = sorted((p for p in Path(there).iterdir() if p.suffix in (".pickle", ".pt")), key=lambda p: int(p.stem))
    jobs = [make_job(loaded, path) for path in files]
    until = time.monotonic() + float(seconds)
    told = dict[Path, Told]()
    with np.errstate(all="ignore"):
        for step in (
            make_tensor_steps(jobs) if isinstance(jobs[0], TensorJob) else make_array_steps(jobs, float(seconds))
        ):
            for path, job in zip(files, jobs, strict=True):
                if told and time.monotonic() > until:
                    break
                if job.once and path in told:
                    continue
                told[path] = try_step(job, told.get(path, {}), step)
                path.with_suffix(".json").write_text(json.dumps(told[path]), encoding="utf-8")
    os._exit(0)  # a thread that waits for ever ends with it


def make_job(loaded: Any, path: Path) -> Any:
    """The job in a file: of a backend, which is what the module is or has, or of a function or class in the module."""
    if path.suffix == ".pt":
        return TensorJob(loaded, path)
    own = getattr(loaded, "backend", None)
    backend = own if callable(getattr(own, "forward", None)) else loaded
    return Job(backend, pickle.loads(path.read_bytes()), str(path.with_suffix("")))  # noqa: S301 - of who started it


def make_array_steps(jobs: Sequence[Job], seconds: float) -> Iterator[Callable[[Job], Told]]:
    """What is done with every job of a backend, in turn."""
    yield partial(call_once, before=-(-AT_LEAST // len(jobs)))
    yield partial(in_other_ways, seconds=min(SECONDS, seconds / 4 / len(jobs)))
    if len(jobs) >= MANY and has_torch():
        yield call_with_torch
    yield at_once


#: Calls with other numbers after all, before results that were held are looked at.
AFTER = 64
#: Calls of each of two threads at once, and the seconds that they may take.
CONCURRENT_CALLS = 20
MAX_CONCURRENT_SECONDS = 2.0


def call_once(job: Job, before: int) -> Told:
    """The answer in a program in which no call comes twice, after calls with other numbers."""
    for places in range(0 if job.once else before):
        inputs, cotangents = job.fresh("other")
        with suppress(Exception):  # of numbers that it is not made for
            job.call(([x if x is None else np.roll(x, places) for x in inputs], cotangents))
    return job.kept("called", job.answer("asked"))


def in_other_ways(job: Job, seconds: float) -> Told:
    """By the way of calling the answers that are not the same bits as those of one call alone."""
    made: Told = {}
    held = job.call(job.fresh("asked"))
    first, other = copy_results(held), job.answer("other")
    viewed = [None if y is None else np.asarray(y)[...] for y in job.call(job.fresh("asked"))]
    for way, alone, got in try_ways(job, first, other, seconds):
        if got is not None and is_other(alone, got):
            made |= job.kept(way, got)
    if shares_by_numbers(job):
        made["shared"] = []
    if keeps_parameters(job):
        made["parameters"] = []
    for name in job.of["losses"]:
        made |= job.kept(name, job.answer(name))
    repeat_call(partial(job.call, job.fresh("other")), AFTER, seconds)  # of a ring of results every place
    for way, got in (("held", held), ("viewed", viewed)):
        if not getattr(job.backend, "reuses_outputs", False) and is_other(first, got):
            made |= job.kept(way, got)
    return made


def call_with_torch(job: Job) -> Told:
    """The answer in a program that has PyTorch loaded, where it is other bits than without."""
    results = job.answer("asked")
    return {} if job.is_kept("called", results) else job.kept("beside torch", results)


def at_once(job: Job) -> Told:
    """Whether two threads that call at once get answers that are not theirs."""
    alone = {name: job.answer(name) for name in ("asked", "other")}
    wrong = list[bool]()

    def run(name: str) -> None:
        with suppress(Exception):  # it may refuse
            for _ in range(CONCURRENT_CALLS):
                wrong.append(is_other(alone[name], job.answer(name)))

    threads = [threading.Thread(target=run, args=(name,), daemon=True) for name in alone]
    for thread in threads:
        thread.start()
    until = time.monotonic() + MAX_CONCURRENT_SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return {"at once": []} if any(wrong) else {}


def has_torch() -> bool:
    """Whether PyTorch can be imported; it is from then on."""
    try:
        importlib.import_module("torch")
    except Exception:  # it may be there and broken
        return False
    return True


def try_step(job: Any, told: Told, step: Callable[[Any], Told]) -> Told:
    """What is told of a job so far, and what became of more calls."""
    if told.get("declined") or told.get("raised"):
        return told
    try:
        if not job.supported():
            return {"declined": True}
        made = told.get("made", {}) | step(job)
    except Exception as error:
        if isinstance(error, NotImplementedError) or type(error).__name__ == "Unsupported":
            return {"declined": True}
        return {**told, "raised": f"{type(error).__name__}: {error}"}
    return {**told, "made": made}


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


if __name__ == "__main__":
    main(*sys.argv[1:])
