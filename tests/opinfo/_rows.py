"""The table of disagreements, `rows.toml`: one row a cause, with who is right and why.

A row covers a difference if it names the entry, the part, and facts that hold of every element that differs. Numbers
that are close may be bounded by `within`, relative to PyTorch's.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _oracle import DISAGREES, RAISES, Difference, Outcome

FILE = Path(__file__).parent / "rows.toml"
SIDES = ("ours", "convention", "rounding")  # who is right, or that both are
KEYS = {"entries", "part", "facts", "within", "raises", "operator", "right", "why", "operators", "link", "shown"}


@dataclass(frozen=True)
class Row:
    """One cause of disagreements.

    `right` is "ours" where PyTorch errs, "convention" where definitions differ, "rounding" where both round. `shown`
    names a program of docs/defects/torch, `link` an address, `operators` those whose docstrings say the convention.
    """

    entries: tuple[str, ...]
    right: str
    why: str
    part: str = ""
    facts: frozenset[str] = frozenset()
    within: float = 0.0
    raises: str = ""
    operator: str = ""
    operators: tuple[str, ...] = ()
    link: str = ""
    shown: str = ""

    def covers(self, entry: str, operator: str, difference: Difference) -> bool:
        """Whether the difference is of this cause."""
        return (
            entry in self.entries
            and not self.raises
            and self.operator in ("", operator)
            and difference.part.startswith(self.part)
            and self.facts <= difference.holds
            and (not self.within or difference.most <= self.within)
        )

    def explains(self, outcome: Outcome) -> bool:
        """Whether PyTorch's exception is of this cause."""
        return bool(self.raises) and outcome.entry in self.entries and self.raises in outcome.said


@functools.cache
def rows() -> tuple[Row, ...]:
    """The rows. Raises ValueError where one says too little, or something that is not known."""
    with FILE.open("rb") as file:
        return tuple(_read(table) for table in tomllib.load(file)["row"])


def _read(table: dict[str, Any]) -> Row:
    if unknown := table.keys() - KEYS:
        raise ValueError(f"a row of {FILE.name} has {sorted(unknown)}; expected keys among {sorted(KEYS)}: {table}")
    if table["right"] not in SIDES:
        raise ValueError(f"a row of {FILE.name} has right = {table['right']!r}; expected one of {SIDES}")
    if not (table.get("facts") or table.get("within") or table.get("raises")):
        raise ValueError(f"a row of {FILE.name} covers any difference: give it facts, within or raises: {table}")
    lists = {key: tuple(table[key]) for key in ("entries", "operators") if key in table}
    return Row(**{**table, **lists, "facts": frozenset(table.get("facts", ()))})


def uncovered(found: Iterable[Outcome]) -> list[str]:
    """What no row is for, a line each."""
    said = []
    for o in found:
        if o.kind == RAISES and not any(row.explains(o) for row in rows()):
            said.append(f"{o.name}: PyTorch raises {o.said}")
        said += [
            f"{o.name}: {d.part}: {d.said}; {sorted(d.holds)}, {d.most:.2g}"
            for d in o.differences
            if not any(row.covers(o.entry, o.operator, d) for row in rows())
        ]
    return said


def idle(entry: str, found: Iterable[Outcome]) -> list[str]:
    """Rows that name the entry and cover nothing of it."""
    found = [*found]
    named = [row for row in rows() if entry in row.entries]
    return [
        f"the row of {entry}, {row.part or row.raises!r}, covers nothing: take the entry from it ({row.why})"
        for row in named
        if not any(row.explains(o) for o in found if o.kind == RAISES)
        and not any(row.covers(o.entry, o.operator, d) for o in found if o.kind == DISAGREES for d in o.differences)
    ]
