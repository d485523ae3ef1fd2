"""The records of a backend over seeds, each judged with its declaration and without.

precision.toml after that: what is needed stands in the place of what was declared of the same records.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from opproof.backends.precision import Precision, merge_entries
from opproof.cases import Case
from opproof.core.capabilities import backend_of, library_of
from opproof.core.verdicts import Mode
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.precision.measure import Measured, declaration_of, judge_twice
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import run_task, support_of
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.plan import Selection, make_tasks, select_cases, select_operators
from opproof.harness.run.task import HostLimits, Task
from opproof.reports.precision import PrecisionRow


def plan_tasks(spec: str, selection: Selection, seeds: int) -> list[Task]:
    """Every record to judge, operator by operator. Raises what a bad selection raises."""
    found: list[Task] = []
    for op in select_operators(selection):
        for seed in range(seeds):
            one = replace(selection, ops=(op.name,), seed=seed)
            found += make_tasks([spec], select_cases(one), one)
    return found


def measure_tasks(wanted: Iterable[Task], limits: HostLimits) -> Iterator[Measured | None]:
    """What each task says, in order; None where no numbers came to be judged, or none need be.

    A host that dies is replaced. Raises BackendError where the backend cannot be loaded.
    """
    host: Host | None = None
    try:
        for task in wanted:
            if host is None or not host.alive:
                host = start_host(task.backend, limits)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # references of empty arrays, and NumPy says so
                found, host = _measure_task(host, task, limits.timeout)
            yield found
    finally:
        if host is not None:
            host.close()


def _measure_task(host: Host, task: Task, timeout: float) -> tuple[Measured | None, Host | None]:
    case = Case.parse(task.case)
    op = op_of(case.op, task.ops)
    try:
        support = support_of(host, case, op, Mode(task.mode))
    except EarlyVerdict:
        return None, host
    except HostFault:
        host.close()
        return None, None
    dtypes = "+".join(case.dtypes)
    if dtypes == "f32" and support.declared.compute is None and support.declared.rounding is None:
        return None, host  # full precision, and nothing less is claimed
    made = run_task(host, task, op, timeout, single_call=True)
    record = judge_twice(made)
    found = None
    if record is not None:
        found = Measured(case.op, task.mode, dtypes, task.case, declaration_of(made), record)
    if made.fault is None:
        return found, host
    host.close()
    return found, None


@dataclass(frozen=True)
class Measurement:
    """All that was measured of one backend."""

    spec: str  # as after -b
    rows: Sequence[PrecisionRow]

    @property
    def is_variant(self) -> bool:
        """Whether the default is another backend, whose declarations are not this one's to change."""
        return backend_of(self.spec) != library_of(self.spec) and not self.spec.startswith("exec:")


def merge_measured(old: Iterable[Precision], measured: Measurement) -> list[Precision]:
    """The declarations of a file with those of `measured` brought up to date; what was not measured stays."""
    backends = (measured.spec,) if measured.is_variant else ()
    needed = [
        Precision(r.op, Mode(r.mode), (r.dtype,), by.compute, by.rounding, r.units_without, r.units_with, backends)
        for r in measured.rows
        if (by := r.needed)
    ]
    judged = {(r.op, r.mode, r.dtype) for r in measured.rows}
    return merge_entries(old, needed, judged, measured.spec, is_variant=measured.is_variant)
