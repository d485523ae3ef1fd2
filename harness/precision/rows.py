"""What many records say of one operator, mode and dtype: whether it needs a declaration, and which."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from opproof.core.dtypes import Declaration
from opproof.harness.judge.judgement import Judgement
from opproof.harness.precision.measure import Twice

#: The part of what fails that a lower precision must make pass to be the least that does.
MOST = 0.75


class Need(StrEnum):
    """How what is declared compares with what is needed."""

    NONE = ""
    DECLARED = "needed"
    MISSING = "needed, not declared"
    SUPERFLUOUS = "declared, not needed"


@dataclass(frozen=True)
class Measured:
    """One record, and what the backend declares of it."""

    op: str
    mode: str
    dtype: str
    case: str
    declared: Declaration
    record: Twice


@dataclass(frozen=True)
class Row:
    """All records of an operator, mode and dtype. Units are the largest of what passes by the declaration."""

    op: str
    mode: str
    dtype: str
    records: int
    failing_without: int
    failing_with: int
    units_without: float
    units_with: float
    declared: Declaration
    needed: Declaration
    worst: str  # the case of the largest error that fails either way; empty where none does

    @property
    def need(self) -> Need:
        """Whether the declaration is as it should be."""
        if self.needed == self.declared:
            return Need.DECLARED if self.needed else Need.NONE
        return Need.MISSING if self.needed else Need.SUPERFLUOUS

    @property
    def telling(self) -> bool:
        """Whether there is anything to say of it."""
        return self.failing_without > 0 or bool(self.declared)


def rows(measured: Iterable[Measured]) -> list[Row]:
    """One row for each operator, mode and dtype, in that order."""
    groups: dict[tuple[str, str, str], list[Measured]] = {}
    for m in measured:
        groups.setdefault((m.op, m.mode, m.dtype), []).append(m)
    return [_row(groups[key]) for key in sorted(groups)]


def _row(group: list[Measured]) -> Row:
    grounds = [m.record for m in group if m.record.is_ground]
    needed = _needed(grounds)
    failing = [m for m in group if m.record.fails and not _passing(m.record, needed)]
    first = group[0]
    return Row(
        op=first.op,
        mode=first.mode,
        dtype=first.dtype,
        records=len(group),
        failing_without=sum(m.record.fails for m in group),
        failing_with=len(failing),
        units_without=max((_units(r.without.units) for r in grounds if _passing(r, needed)), default=0.0),
        units_with=max((_units(j.units) for r in grounds for j in _passing(r, needed)), default=0.0),
        declared=first.declared,
        needed=needed,
        worst=max(failing, key=lambda m: _units(m.record.without.units)).case if failing else "",
    )


def _needed(grounds: Sequence[Twice]) -> Declaration:
    """The least by which all pass, or of precisions most; where there is none, what each needs, together.

    A few sums of thousands of terms are no reason to judge all others by the precision of 16 bits: they are defects.
    """
    passing = Counter(by for r in grounds for by in r.passing)
    rounded = [by for by, count in passing.items() if by.rounding is not None and count == len(grounds)]
    computed = [by for by, count in passing.items() if by.rounding is None and count >= MOST * len(grounds)]
    least = sorted(computed, key=lambda by: by.compute not in ("storage", "f32"))  # in which sums have more digits
    if rounded or least:
        return next(iter((*rounded, *least)))
    return Declaration(
        compute=next((r.by.compute for r in grounds if r.by.compute is not None), None),
        rounding=next((r.by.rounding for r in grounds if r.by.rounding is not None), None),
    )


def _passing(record: Twice, declared: Declaration) -> list[Judgement]:
    """How a record passes by what is declared, or by a part of it; empty where it does not."""
    parts = {declared, Declaration(declared.compute), Declaration(rounding=declared.rounding)}
    return [judgement for by, judgement in record.passing.items() if by in parts]


def _units(units: float | None) -> float:
    return 0.0 if units is None or math.isnan(units) else units
