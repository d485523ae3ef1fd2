"""What was measured of a backend's precision: a row for each operator, mode and dtype, and the table of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from opproof.core.dtypes import Declaration


class Need(StrEnum):
    """How what is declared compares with what is needed."""

    NONE = ""
    DECLARED = "needed"
    MISSING = "needed, not declared"
    SUPERFLUOUS = "declared, not needed"


@dataclass(frozen=True)
class PrecisionRow:
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
