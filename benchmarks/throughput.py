"""Records per second of a run, and where the time of a record goes.

    python benchmarks/throughput.py -b torch -j 2

First a real run through the pool, with the peak memory of the whole process tree; then a sample of
its tasks in this process under the profiler.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from opproof.cases import Case
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.run.execute import execute
from opproof.harness.run.plan import Selection, cases, tasks
from opproof.harness.run.pool import Limits, Pool
from opproof.harness.run.task import Task, backend_of
from opproof.reference_ops import load

#: What is counted as what: cumulative time of functions that do not call each other.
STAGES = {
    "inputs": [("data.py", "inputs_of"), ("data.py", "cotangents_of")],
    "guarded memory": [("call.py", "_lay_out"), ("memory.py", "trespass")],
    "backend": [("call.py", "_call")],
    "reference": [("reference.py", "forward"), ("reference.py", "vjp"), ("reference.py", "gradients_exist")],
    "noise runs": [("reference.py", "expected_forward"), ("reference.py", "expected_vjp")],
    "kinks": [("kinks.py", "intervals")],
    "comparison": [("compare.py", "compare")],
    "vacuity": [("vacuity.py", "vacuous")],
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-b", "--backend", default="torch")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-o", "--ops", default="")
    parser.add_argument("--sample", type=int, default=1500)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    selection = Selection(ops=tuple(n for n in options.ops.split(",") if n))
    planned = tasks([options.backend], cases(selection), selection)
    whole_run(options.backend, planned, options.jobs)
    sample(options.backend, planned[:: max(1, len(planned) // options.sample)])


def whole_run(backend: str, planned: list[Task], jobs: int) -> None:
    """Time all tasks through the pool, as `opproof run` does."""
    peak, stop = [0], threading.Event()
    watcher = threading.Thread(target=_watch, args=(peak, stop))
    watcher.start()
    started = time.perf_counter()
    with Pool(Limits(jobs, 60.0, 4 * 2**30)) as pool:
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
    """Profile tasks one by one in this process."""
    loaded, profile = backend_of(backend), cProfile.Profile()
    started = time.perf_counter()
    for task in chosen:
        profile.runcall(_one, loaded, task)
    seconds = time.perf_counter() - started
    print(f"\n{len(chosen)} of them in one process, under the profiler: {1000 * seconds / len(chosen):.2f} ms each")
    cumulative = _cumulative(pstats.Stats(profile))
    named = {stage: sum(cumulative(*f) for f in functions) for stage, functions in STAGES.items()}
    inner = cumulative("reference.py", "forward") + cumulative("reference.py", "vjp")
    named["noise runs"] -= min(inner, named["noise runs"]) / 3  # of the three plain evaluations, one stands inside
    for stage, value in sorted(named.items(), key=lambda item: -item[1]):
        print(f"  {stage:16s} {value / seconds:6.1%}")
    print(f"  {'the rest':16s} {max(0.0, 1 - sum(named.values()) / seconds):6.1%}")


def _cumulative(stats: pstats.Stats) -> Callable[[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for (path, _, name), (*_, total, _callers) in stats.stats.items():  # type: ignore[attr-defined]
        key = (Path(path).name, name)
        found[key] = found.get(key, 0.0) + total
    return lambda file, name: found.get((file, name), 0.0)


def _one(backend: object, task: Task) -> None:
    case = Case.parse(task.case)
    op = load(case.op)
    outcome = execute(backend, case, op, task.mode)
    if not outcome.verdict:
        declared = getattr(backend, "compute", lambda *_: None)(op.name, case.dtype, task.mode)
        judge(case, op, task.mode, outcome, Rules(declared=declared))


if __name__ == "__main__":
    main()
