"""Which names of other libraries' lists our operators compute."""

from __future__ import annotations

from functools import cache

from opproof.reference_ops import load, names
from opproof.reference_ops._elsewhere import NameList, read_lists
from parts.tables import table


def covered() -> str:
    """Return how many names of each list are covered."""
    rows = ((n.title, len(n.names), len(n.names) - len(n.missing), n.source) for n in _lists())
    return table(("list", ">names", ">covered", "read from"), rows)


def missing() -> str:
    """Return the names that are not, a paragraph for each list."""
    return "\n\n".join(f"Missing of {n.title}: {', '.join(n.missing)}." for n in _lists())


@cache
def _lists() -> tuple[NameList, ...]:
    return tuple(read_lists(map(load, names())))
