"""The records of a backend over seeds, each judged with its declaration and without.

What was measured, for a terminal: a line for each operator, mode and dtype that says something, and totals.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.precision.measure import Measured, Need, PrecisionRow, declaration_of, judge_twice
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import run_task, support_of
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.plan import Selection, make_tasks, select_cases, select_operators
from opproof.harness.run.task import HostLimits, Task


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
    """The record of a task, and the host while it is of use."""
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


HEADS = ("operator", "mode", "dtype", "records", "fail without", "with", "units without", "with", "declaration", "")


def render_table(judged: Sequence[PrecisionRow]) -> str:
    """The table as text, with what fails either way, and how much there is of each, below it."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    telling = [row for row in judged if row.telling]
    align = ("left", "left", "left", *["right"] * 5, "left", "left")
    shown = tabulate(
        [_render_cells(r) for r in telling], HEADS, tablefmt="simple", colalign=align, disable_numparse=True
    )
    worst = [f"fails either way: {r.worst} {r.mode}" for r in telling if r.worst]
    return "\n\n".join(
        part for part in (str(shown) if telling else "", "\n".join(worst), render_totals(judged)) if part
    )


def render_totals(judged: Sequence[PrecisionRow]) -> str:
    """One line: how many operators, modes and dtypes need a declaration, have one in vain, fail either way."""
    counts = [f"{sum(bool(r.needed) for r in judged)} need a declaration"]
    missing, idle = (sum(r.need is need for r in judged) for need in (Need.MISSING, Need.SUPERFLUOUS))
    counts += [f"{missing} of them lack it"] * bool(missing) + [f"{idle} declared, not needed"] * bool(idle)
    counts.append(f"{sum(r.failing_with > 0 for r in judged)} fail either way")
    records = sum(r.records for r in judged)
    return f"{records:,} records of {len(judged)} operators, modes and dtypes: {', '.join(counts)}"


def _render_cells(row: PrecisionRow) -> tuple[str, ...]:
    words = [str(row.need)] * (row.need is not Need.NONE)
    words += ["fails either way"] * (row.failing_with > 0)
    return (
        *(row.op, row.mode, row.dtype, str(row.records), str(row.failing_without), str(row.failing_with)),
        *(f"{units:.3g}" if row.needed else "" for units in (row.units_without, row.units_with)),
        *(str(row.needed or row.declared), ", ".join(words)),
    )
