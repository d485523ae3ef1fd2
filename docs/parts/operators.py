"""The list of operators, from the docstrings in reference_ops/."""

from __future__ import annotations

from opproof.reference_ops import Op, load, names
from opproof.reference_ops._elsewhere import LIBRARIES, equivalents
from parts.tables import table


def summary() -> str:
    """Return how many there are."""
    ops = [load(name) for name in names()]
    return f"{len(ops)} operators, {sum(op.vjp is not None for op in ops)} with a gradient."


def listing() -> str:
    """Return a row for each: its formula, and what other libraries call it."""
    heads = ("operator", "formula", "gradient", *LIBRARIES)
    return table(heads, (_cells(load(name)) for name in names()))


def _cells(op: Op) -> list[str]:
    formula, other = op.doc.split("\n\n", 1)[0].partition(": ")[2], equivalents(op.doc)
    cells = (formula, "yes" * (op.vjp is not None), *(other.get(key, "") for key in LIBRARIES))
    return [f"[{op.name}](operators/{op.name}.md)", *(" ".join(cell.split()) for cell in cells)]
