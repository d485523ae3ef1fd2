"""The text of a row: the inside of a case's id, parts joined by `;`, with dtypes in which it is tried or without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opproof.core.dtypes import DTYPES

#: As far from the numbers of f16 and of bf16 as a parameter can be: kept in 16 bits it is off by 0.85 of their units.
BETWEEN = 0.12554


def are_dtypes(part: str) -> bool:
    """Whether this part of a row says in which dtypes it is a case: `f32,f16`."""
    return all(word in DTYPES for word in part.split(","))


def names_dtypes(row: str) -> bool:
    """Whether a row has dtypes of its own."""
    return any(map(are_dtypes, row.split(";")))


def join(*parts: str) -> str:
    """Parts of a row joined by ';', empty ones left out."""
    return ";".join(p for p in parts if p)


def product(*groups: Iterable[str]) -> Iterator[str]:
    """Every combination of one part of each group, joined."""
    if not groups:
        yield ""
        return
    first, *rest = (list(g) for g in groups)
    for head in first:
        for tail in product(*rest):
            yield join(head, tail)
