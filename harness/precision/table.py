"""What was measured, for a terminal: a line for each operator, mode and dtype that says something, and totals."""

from __future__ import annotations

from collections.abc import Sequence

from opproof.harness.precision.rows import Need, Row

HEADS = ("operator", "mode", "dtype", "records", "fail without", "with", "units without", "with", "declaration", "")


def table(judged: Sequence[Row]) -> str:
    """The table as text, with what fails either way, and how much there is of each, below it."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    telling = [row for row in judged if row.telling]
    align = ("left", "left", "left", *["right"] * 5, "left", "left")
    shown = tabulate([_cells(r) for r in telling], HEADS, tablefmt="simple", colalign=align, disable_numparse=True)
    worst = [f"fails either way: {r.worst} {r.mode}" for r in telling if r.worst]
    return "\n\n".join(part for part in (str(shown) if telling else "", "\n".join(worst), totals(judged)) if part)


def totals(judged: Sequence[Row]) -> str:
    """One line: how many operators, modes and dtypes need a declaration, have one in vain, fail either way."""
    counts = [f"{sum(bool(r.needed) for r in judged)} need a declaration"]
    missing, idle = (sum(r.need is need for r in judged) for need in (Need.MISSING, Need.SUPERFLUOUS))
    counts += [f"{missing} of them lack it"] * bool(missing) + [f"{idle} declared, not needed"] * bool(idle)
    counts.append(f"{sum(r.failing_with > 0 for r in judged)} fail either way")
    records = sum(r.records for r in judged)
    return f"{records:,} records of {len(judged)} operators, modes and dtypes: {', '.join(counts)}"


def _cells(row: Row) -> tuple[str, ...]:
    words = [str(row.need)] * (row.need is not Need.NONE)
    words += ["fails either way"] * (row.failing_with > 0)
    return (
        *(row.op, row.mode, row.dtype, str(row.records), str(row.failing_without), str(row.failing_with)),
        *(f"{units:.3g}" if row.needed else "" for units in (row.units_without, row.units_with)),
        *(str(row.needed or row.declared), ", ".join(words)),
    )
