"""What a run on a cluster costs its own process, and from how many workers on that is what limits it.

    python benchmarks/cluster.py [-b torch] [-o OP,OP...] [--workers 2]

First a real run on a Dask cluster of this machine: CPU time of the run's process (with --dask local the scheduler's
too, less what both take at rest) and of the judges and hosts, each a record. Then a simulation with these two figures:
workers that take chunks of two seconds, one process that hands them out and writes what comes back.
"""

from __future__ import annotations

import argparse
import heapq
import resource
import time
from contextlib import suppress

import psutil

from opproof.harness.run.cluster import Cluster
from opproof.harness.run.plan import Selection, make_tasks, select_cases
from opproof.harness.run.task import HostLimits
from opproof.reports._results import encode_record

#: Seconds of a chunk, and chunks that lie ready for each worker (harness/run/cluster.py).
CHUNK, READY = 2.0, 2
_IDLE = 4.0
WORKERS = (1, 2, 4, 16, 64, 256, 1024)


def measured(backend: str, ops: tuple[str, ...], workers: int) -> tuple[float, float, int]:
    """Seconds of a record in the run's process and in a worker, and how many records there were."""
    selection = Selection(ops=ops)
    planned = make_tasks((backend,), select_cases(selection), selection)
    with Cluster("local", HostLimits(workers, 30.0, 4 * 2**30)) as cluster:
        cluster.describe(backend)
        time.sleep(_IDLE)
        begun, before = _here(), _below()
        time.sleep(_IDLE)
        at_rest = (_here() - begun) / _IDLE  # what looking after workers takes, whether there are records or not
        begun, clock = _here(), time.perf_counter()
        results = []
        for result in cluster.run(planned):
            encode_record(result)
            results.append(result)
        here = max(0.0, _here() - begun - at_rest * (time.perf_counter() - clock))
        there = _below() - before
    return here / len(results), there / len(results), len(results)


def _here() -> float:
    """CPU seconds of this process so far."""
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


def _below() -> float:
    """CPU seconds of all processes below this one so far: workers, judges, hosts."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            total += sum(process.cpu_times()[:2])
    return total


def simulated(workers: int, here: float, there: float, records: int) -> float:
    """Seconds until the last record is written."""
    size = max(1, round(CHUNK / there))
    left = records
    ready = [0] * workers  # chunks that lie at each worker, the one that it is at included
    events: list[tuple[float, int, bool]] = []  # when, at which worker, whether a chunk ends there or comes

    def hand_out(when: float, worker: int) -> None:
        nonlocal left
        if left > 0:
            left -= size
            heapq.heappush(events, (when, worker, False))

    for turn in range(READY * workers):
        hand_out(0.0, turn % workers)
    done = 0.0  # when the run's process has written all that has come
    while events:
        now, worker, ends = heapq.heappop(events)
        ready[worker] += -1 if ends else 1
        if ends:
            done = max(done, now) + here * size
            hand_out(done, worker)
        if ready[worker] >= 1 and (ends or ready[worker] == 1):
            heapq.heappush(events, (now + there * size, worker, True))
    return done


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-b", "--backend", default="torch")
    parser.add_argument("-o", "--op", default="softmax,matmul,gelu,layer_norm,sum,conv2d")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    begun = time.perf_counter()
    here, there, count = measured(given.backend, tuple(given.op.split(",")), given.workers)
    wall = time.perf_counter() - begun
    print(f"{count:,} records of {given.backend} on {given.workers} workers, {wall:.0f} s with their start:")
    print(f"{1e3 * here:.2f} ms of a record in the run's process, {1e3 * there:.2f} ms in a worker")
    print("workers    seconds    x 1 worker    of what they could")
    alone = simulated(1, here, there, 400_000)
    for workers in WORKERS:
        seconds = simulated(workers, here, there, 400_000)
        print(f"{workers:7}  {seconds:9.0f}  {alone / seconds:12.1f}  {alone / seconds / workers:19.0%}")


if __name__ == "__main__":
    main()
