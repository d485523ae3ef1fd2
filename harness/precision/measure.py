"""The records of a backend over seeds, each judged without a declaration and with those of lower precision.

What many records say of one operator, mode and dtype: whether it needs a declaration, and which. precision.toml after
that: what is needed stands in the place of what was declared of the same records.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from opproof.backends.precision import Precision, merge_entries
from opproof.cases import Case
from opproof.core.capabilities import backend_of, library_of
from opproof.core.dtypes import DTYPES, Declaration, Dtype, round_to
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.array_statistics import Rounding
from opproof.harness.judge.judgement import JudgedTensor, Judgement, judge
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.roundoff import COMPUTE_U
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import Attempt, run_task, support_of
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.plan import Selection, make_tasks, select_cases, select_operators
from opproof.harness.run.task import HostLimits, Task
from opproof.reports.precision import PrecisionRow

#: Of results, the part that must be the next number towards zero where a store truncates.
MIN_TRUNCATED_SHARE = 0.9


@dataclass(frozen=True)
class Twice:
    """A record judged without a declaration, and with those that may help where that fails."""

    without: Judgement
    passing: Mapping[Declaration, Judgement] = field(default_factory=dict)  # the declarations by which it passes

    @property
    def by(self) -> Declaration:
        """The least by which it passes; none where it needs none, or none helps."""
        return next(iter(self.passing), Declaration())

    @property
    def fails(self) -> bool:
        """Whether it is wrong where nothing is declared."""
        return self.without.verdict in WRONG

    @property
    def mended(self) -> bool:
        """Whether it passes by a declaration alone."""
        return self.fails and bool(self.passing)

    @property
    def is_ground(self) -> bool:
        """Whether it is a reason to declare what makes it pass: infinities and NaN are no rounding errors."""
        return self.mended and self.without.nonfinite == 0


def declaration_of(made: Attempt) -> Declaration:
    """What the backend declared when it was asked."""
    return Declaration() if made.rules is None else Declaration(made.rules.declared, made.rules.rounding)


def judge_twice(made: Attempt) -> Twice | None:
    """The two judgements of an attempt; None where it did not come to numbers that could be judged."""
    if made.posed is None or made.answer is None or made.rules is None:
        return None
    if made.judgement.verdict not in {*WRONG, Verdict.PASS, Verdict.VACUOUS}:
        return None
    posed, answer, rules, declared = made.posed, made.answer, made.rules, declaration_of(made)

    def judged(by: Declaration) -> Judgement:
        if by == declared:
            return made.judgement
        return judge(posed, answer, replace(rules, declared=by.compute, rounding=by.rounding))

    without = judged(Declaration())
    if without.verdict not in WRONG:
        return Twice(_drop_arrays(without))
    made_by = {by: _drop_arrays(judged(by)) for by in _list_candidates(declared, posed.case.dtypes, without)}
    return Twice(_drop_arrays(without), {by: j for by, j in made_by.items() if j.verdict is Verdict.PASS})


def _is_truncated(judged: JudgedTensor, dtype: Dtype) -> bool:
    """Whether results are cut off, and not merely too small on average: they are the next number towards zero."""
    if judged.figures.rounding is not Rounding.TRUNCATE or not judged.comparison.passed.all():
        return False
    values = judged.expected.values
    nearest = round_to(values, dtype)
    cut = np.where(
        np.abs(nearest) > np.abs(values), np.nextafter(nearest.astype(dtype.numpy), dtype.numpy.type(0)), nearest
    )
    counted = np.isfinite(values) & (np.abs(values) >= dtype.tiny) & np.isfinite(nearest)
    same = np.asarray(judged.got, dtype=np.float64) == cut
    return bool(counted.any() and np.mean(same[counted]) > MIN_TRUNCATED_SHARE)


def _drop_arrays(judgement: Judgement) -> Judgement:
    """Without the arrays, of which many records would be many."""
    return replace(judgement, tensors=())


def _list_candidates(declared: Declaration, dtypes: Sequence[str], without: Judgement) -> list[Declaration]:
    """What may make a wrong record pass, the least first; `dtypes` are those of its tensors, that of results first.

    A rounding that is declared comes last: many an error passes by it that is something else.
    """
    candidates, (dtype, *others) = [], dtypes
    if any(_is_truncated(j, DTYPES[dtype]) for j in without.tensors):
        candidates.append(Declaration(rounding=str(Rounding.TRUNCATE)))
    # In 16 bits first what is stored between kernels, then sums too: each is a lower precision than the one before.
    usual = ("f32",) if dtype == "f64" else ("storage", dtype) if DTYPES[dtype].digits < 24 else ()
    coarser = [other for other in others if other in COMPUTE_U and DTYPES[other].digits < DTYPES[dtype].digits]
    candidates += [Declaration(compute) for compute in (declared.compute, *usual, *coarser)]
    return list(dict.fromkeys(c for c in (*candidates, declared) if c))


#: The part of what fails that a lower precision must make pass to be the least that does.
MIN_PASSING_SHARE = 0.75


@dataclass(frozen=True)
class Measured:
    """One record, and what the backend declares of it."""

    op: str
    mode: str
    dtype: str
    case: str
    declared: Declaration
    record: Twice


def make_rows(measured: Iterable[Measured]) -> list[PrecisionRow]:
    """One row for each operator, mode and dtype, in that order."""
    groups: dict[tuple[str, str, str], list[Measured]] = {}
    for m in measured:
        groups.setdefault((m.op, m.mode, m.dtype), []).append(m)
    return [_make_row(groups[key]) for key in sorted(groups)]


def _make_row(group: list[Measured]) -> PrecisionRow:
    grounds = [m.record for m in group if m.record.is_ground]
    needed = _find_needed(grounds)
    failing = [m for m in group if m.record.fails and not _find_passing(m.record, needed)]
    first = group[0]
    return PrecisionRow(
        op=first.op,
        mode=first.mode,
        dtype=first.dtype,
        records=len(group),
        failing_without=sum(m.record.fails for m in group),
        failing_with=len(failing),
        units_without=max((_to_number(r.without.units) for r in grounds if _find_passing(r, needed)), default=0.0),
        units_with=max((_to_number(j.units) for r in grounds for j in _find_passing(r, needed)), default=0.0),
        declared=first.declared,
        needed=needed,
        worst=max(failing, key=lambda m: _to_number(m.record.without.units)).case if failing else "",
    )


def _find_needed(grounds: Sequence[Twice]) -> Declaration:
    """The least by which all pass, or of precisions most; where there is none, what each needs, together.

    A few sums of thousands of terms are no reason to judge all others by the precision of f16 or bf16: they are
    defects.
    """
    passing = Counter(by for r in grounds for by in r.passing)
    rounded = [by for by, count in passing.items() if by.rounding is not None and count == len(grounds)]
    computed = [
        by for by, count in passing.items() if by.rounding is None and count >= MIN_PASSING_SHARE * len(grounds)
    ]
    least = sorted(computed, key=lambda by: by.compute not in ("storage", "f32"))  # in which sums have more digits
    if rounded or least:
        return next(iter((*rounded, *least)))
    return Declaration(
        compute=next((r.by.compute for r in grounds if r.by.compute is not None), None),
        rounding=next((r.by.rounding for r in grounds if r.by.rounding is not None), None),
    )


def _find_passing(record: Twice, declared: Declaration) -> list[Judgement]:
    """How a record passes by what is declared, or by a part of it; empty where it does not."""
    parts = {declared, Declaration(declared.compute), Declaration(rounding=declared.rounding)}
    return [judgement for by, judgement in record.passing.items() if by in parts]


def _to_number(units: float | None) -> float:
    return 0.0 if units is None or math.isnan(units) else units


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
