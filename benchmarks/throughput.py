"""Records per second of a run, where the time of a record goes, and what a record costs beside another opproof's.

    python benchmarks/throughput.py -b torch -j 2
    python benchmarks/throughput.py -b numpy -j 1 --against DIR --cases FILE

First a real run through the judges, with the peak memory of the whole process tree; then a sample of its tasks with
the judge in this process, under the profiler. With --against, instead: the same `opproof run` by the one that is
installed in DIR (`pip install --no-deps --target DIR ...`) and by this opproof, with a cache that is empty (cold) and
with the same cache once more (warm), and the CPU time of each. FILE holds the ids of cases that both know, one a line.
"""

from __future__ import annotations

import argparse
import cProfile
import ctypes
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from opproof.harness.run.plan import Selection, make_tasks, select_cases
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task

#: What is counted as what: cumulative time of functions that do not call each other.
STAGES = {
    "inputs": [("data.py", "inputs_of"), ("data.py", "cotangents_of")],
    "laying out": [("memory.py", "make_layout"), ("memory.py", "write"), ("memory.py", "take_snapshot")],
    "the host": [("process.py", "exchange_several")],
    "reference": [("question.py", "evaluate_forward"), ("question.py", "evaluate_vjp")],
    "noise runs": [("error_scale.py", "measure_deviations")],
    "kinks": [("kinks.py", "find_intervals")],
    "comparison": [("bound.py", "compare")],
    "vacuity": [("judgement.py", "find_vacuous_answers")],
}
#: The most that a record may cost of what it costs in the other opproof, commit 4faf4ae.
BARS = {"cold": 0.40, "warm": 0.15}

_CHILD_SUBREAPER = 36  # of <sys/prctl.h>


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-b", "--backend", default="torch")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-o", "--ops", default="")
    parser.add_argument("--sample", type=int, default=1500)
    parser.add_argument("--against", type=Path, metavar="DIR", help="a folder that holds another opproof, installed")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each, by turns, with --against")
    parser.add_argument("--cases", type=Path, metavar="FILE", help="only these, with --against; ids, one a line")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if options.against is not None:
        only = ["-o", options.ops] if options.ops else []
        if options.cases is not None:
            only += [word for line in options.cases.read_text().split("\n") if line for word in ("--case", line)]
        compare(options.backend, options.jobs, only, options.against, options.rounds)
        return
    selection = Selection(ops=tuple(n for n in options.ops.split(",") if n))
    planned = make_tasks([options.backend], select_cases(selection), selection)
    whole_run(options.backend, planned, options.jobs)
    sample(options.backend, planned[:: max(1, len(planned) // options.sample)])


def whole_run(backend: str, planned: list[Task], jobs: int) -> None:
    """Time all tasks through the pool, as `opproof run` does."""
    peak, stop = [0], threading.Event()
    watcher = threading.Thread(target=_watch, args=(peak, stop))
    watcher.start()
    started = time.perf_counter()
    with Pool(HostLimits(jobs, 60.0, 4 * 2**30)) as pool:
        pool.describe(backend)
        ready = time.perf_counter() - started
        count = sum(1 for _ in pool.run(planned))
    seconds = time.perf_counter() - started
    stop.set()
    watcher.join()
    print(f"{count} records in {seconds:.1f} s with -j {jobs}: {count / seconds:.0f} a second; start {ready:.1f} s")
    print(f"peak memory of the process tree {peak[0] / 2**20:.0f} MiB (resident; shared pages count in each process)")


def _watch(peak: list[int], stop: threading.Event) -> None:
    me = psutil.Process()
    while not stop.wait(0.2):
        total = 0
        for process in (me, *me.children(recursive=True)):
            try:
                total += process.memory_info().rss
            except psutil.Error:
                continue
        peak[0] = max(peak[0], total)


def sample(backend: str, chosen: list[Task]) -> None:
    """Profile tasks one by one, the judge in this process."""
    desk, profile = Session(HostLimits(1, 60.0, 4 * 2**30)), cProfile.Profile()
    desk.describe(backend)
    started = time.perf_counter()
    for task in chosen:
        profile.runcall(desk.results, [task])
    seconds = time.perf_counter() - started
    desk.close()
    print(f"\n{len(chosen)} of them by one judge, under the profiler: {1000 * seconds / len(chosen):.2f} ms each")
    cumulative = _cumulative(pstats.Stats(profile))
    named = {stage: sum(cumulative(*f) for f in functions) for stage, functions in STAGES.items()}
    for stage, value in sorted(named.items(), key=lambda item: -item[1]):
        print(f"  {stage:16s} {value / seconds:6.1%}")
    print(f"  {'the rest':16s} {max(0.0, 1 - sum(named.values()) / seconds):6.1%}")


def _cumulative(stats: pstats.Stats) -> Callable[[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for (path, _, name), (*_, total, _callers) in stats.stats.items():  # type: ignore[attr-defined]
        key = (Path(path).name, name)
        found[key] = found.get(key, 0.0) + total
    return lambda file, name: found.get((file, name), 0.0)


@dataclass(frozen=True)
class Cost:
    """Of one or several runs. `cpu` is in seconds, user and system, of the run and all processes below it."""

    records: int = 0
    cpu: float = 0.0
    wall: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.records + other.records, self.cpu + other.cpu, self.wall + other.wall)


def compare(backend: str, jobs: int, only: list[str], other: Path, rounds: int) -> None:
    """Print what a record costs here and in `other`."""
    if not (other / "opproof").is_dir():
        sys.exit(f"{other} holds no package opproof; install one with `pip install --no-deps --target {other} PATH`.")
    this, that = os.environ.get("PYTHONPATH", ""), str(other.resolve())
    costs = dict.fromkeys(("that", *BARS), Cost())
    for i in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            turns = [("that", that), *((which, this) for which in BARS)]
            for which, packages in turns if i % 2 == 0 else [*turns[1:], turns[0]]:  # what slows down, slows down all
                costs[which] += cost(backend, jobs, only, packages, cache)
    for which, c in costs.items():
        each = f"{1000 * c.cpu / c.records:.3f} ms of CPU a record"
        print(f"{which:4}  {c.records:7,} records  {c.cpu:8.1f} s of CPU  {c.wall:7.1f} s  {each}")
    for which, bar in BARS.items():
        ratio = (costs[which].cpu / costs[which].records) / (costs["that"].cpu / costs["that"].records)
        print(f"{which} it costs {ratio:.3f} of that ({'within' if ratio <= bar else 'beyond'} the bar of {bar:g})")


def cost(backend: str, jobs: int, only: list[str], packages: str, cache: str) -> Cost:
    """What `opproof run` costs with the opproof that is found on PYTHONPATH `packages`, and this folder for a cache."""
    # Processes whose parents are gone come to this one, and are counted when it has waited for them.
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "opproof.harness", "run", "-b", backend, "-j", str(jobs), "--quiet"]
        command += [*only, "--timeout", "60", "--out", "out"]
        environment = {**os.environ, "PYTHONPATH": packages, "OPPROOF_CACHE": cache}
        before, started = _waited_for(), time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False)
        wall = time.perf_counter() - started
        try:
            while True:
                os.wait()
        except ChildProcessError:
            pass
        if done.returncode not in (0, 1):
            sys.exit(f"the run with PYTHONPATH={packages} ended with status {done.returncode}.")
        with (Path(folder) / "out" / "results.jsonl").open("rb") as file:
            return Cost(sum(1 for _ in file) - 1, _waited_for() - before, wall)


def _waited_for() -> float:
    """CPU seconds of all children that have ended and were waited for, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
