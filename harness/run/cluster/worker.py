"""What runs on a worker: judges as those of a run on one machine, kept from one chunk to the next."""

from __future__ import annotations

import atexit
import multiprocessing
import time
from dataclasses import replace

from opproof.core.capabilities import renamed
from opproof.core.errors import BackendError, OpError, UsageError
from opproof.harness import __version__
from opproof.harness.run.cache.place import place
from opproof.harness.run.cluster.chunk import Answer, Chunk, Order
from opproof.harness.run.cluster.shipped import back, placed, there
from opproof.harness.run.limits import Limits
from opproof.harness.run.pool import Pool

#: The judge of this worker, by what it may use.
_POOLS: dict[tuple[Limits, int | None], Pool] = {}
#: What backends here call themselves, by spec.
_ABOUT: dict[tuple[Limits, str], dict[str, str]] = {}


def described(order: Order, spec: str) -> Answer:
    """Name, version and device of a backend as this worker has it."""
    name, refusal = _worker(order)
    if refusal:
        return Answer(name, refusal=refusal)
    at = placed(order.files)
    try:
        return Answer(name, about=_about(order, spec, renamed(spec, at)))
    except BackendError as error:
        return Answer(name, refusal=str(error).replace(renamed(spec, at), spec))  # the run's own name of the file


def judged(order: Order, chunk: Chunk) -> Answer:
    """The records of a chunk."""
    name, refusal = _worker(order)
    try:
        at = placed(order.files)
        refusal = refusal or _other_backend(order, at)
        if refusal:
            return Answer(name, refusal=refusal)
        begun = time.perf_counter()
        results = [back(r, at) for r in _pool(order).run([there(task, at) for task in chunk.tasks])]
    except BackendError as error:
        return Answer(name, refusal=str(error))
    except (OpError, UsageError) as error:
        return Answer(name, error=str(error))
    return Answer(name, results, time.perf_counter() - begun)


def _worker(order: Order) -> tuple[str, str]:
    """The worker's address, and what keeps it from judging."""
    from distributed import get_worker

    worker = get_worker()
    if order.opproof != __version__:
        return worker.address, f"it has opproof {__version__}; expected {order.opproof}, the version of the run"
    if worker.state.nthreads != 1:
        return worker.address, f"it has {worker.state.nthreads} threads; start it with --nthreads 1"
    if multiprocessing.current_process().daemon:
        said = "its process is a daemon's, which may start no others; set DASK_DISTRIBUTED__WORKER__DAEMON=False"
        return worker.address, said
    return worker.address, ""


def _pool(order: Order) -> Pool:
    key = (order.limits, order.cache)
    if key not in _POOLS:
        pool = Pool(replace(order.limits, jobs=1), None if order.cache is None else place(order.cache))
        _POOLS[key] = pool.__enter__()
        atexit.register(pool.__exit__)
    return _POOLS[key]


def _about(order: Order, spec: str, path: str) -> dict[str, str]:
    key = (order.limits, path)
    if key not in _ABOUT:
        _ABOUT[key] = {**_pool(order).describe(path), "spec": spec}
    return _ABOUT[key]


def _other_backend(order: Order, at: dict[str, str]) -> str:
    """How a backend here differs from that of the run."""
    for spec, name, version in order.backends:
        about = _about(order, spec, renamed(spec, at))
        if (about["name"], about["version"]) != (name, version):
            here = f"{about['name']} {about['version']}"
            return f"its {spec} is {here}; expected {name} {version}, as the run has it"
    return ""
