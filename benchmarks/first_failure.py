"""How soon a run fails whose backend has one defect: records before the one that fails, and seconds of processors.

    python benchmarks/first_failure.py [--every 12]

Every so many of the shipped bugs (benchmarks/shipped.py) is alone in a backend that answers every operator. Records of
its operator are made in the order of the run until one fails; of the others, which pass, a few are timed. Processes,
and what the plan takes, come on top: four seconds of processors.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
import warnings
from collections.abc import Sequence

from shipped import BUGS, Shipped

from opproof.backends.loaded import resolve_members
from opproof.core.verdicts import FAILED
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import InProcessHost
from opproof.harness.run.plan import Selection, make_tasks, select_cases
from opproof.harness.run.record import record
from opproof.harness.run.task import Task, op_name_of
from opproof.reference_ops import load

#: Records that are timed of those before the one that fails.
TIMED = 40


def find_first(tasks: Sequence[Task], host: InProcessHost, op: str) -> int | None:
    """The place of the first record that fails, all of which are of one operator."""
    own = ((i, task) for i, task in enumerate(tasks) if op_name_of(task) == op)
    return next(
        (i for i, task in own if record(task, run_task(host, task, load(op), math.inf)).verdict in FAILED), None
    )


def measure_records(tasks: Sequence[Task], host: InProcessHost) -> float:
    """Seconds of processors that all these records take, by every so many of them."""
    some = tasks[:: max(len(tasks) // TIMED, 1)]
    begun = time.process_time()
    for task in some:
        record(task, run_task(host, task, load(op_name_of(task)), math.inf))
    return (time.process_time() - begun) * len(tasks) / max(len(some), 1)


def main() -> None:
    """Print a line a defect, and what half and nine in ten of them take."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=12)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a wrong formula may overflow, and NumPy says so
    tasks = make_tasks(["shipped"], select_cases(Selection()), Selection())
    found: list[tuple[float, float]] = []
    for bug in BUGS[3 :: options.every]:
        host = InProcessHost(resolve_members(Shipped(bug=bug), "shipped"))
        place = find_first(tasks, host, bug.op)
        before = tasks[: len(tasks) if place is None else place]
        found.append((len(before), measure_records(before, host)))
        print(f"{bug.op} {bug.link}: {len(before)} records, {found[-1][1]:.1f} s of processors", flush=True)
    for k, said in enumerate(("records", "seconds")):
        values = sorted(one[k] for one in found)
        print(f"{said}: half {statistics.median(values):.1f}, nine in ten {values[int(0.9 * len(values))]:.1f}")


if __name__ == "__main__":
    main()
