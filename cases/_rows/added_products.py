"""Rows of products that are added to a tensor: a and b as in the rows of a product, and x of the result's shape."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

from opproof.cases._case import Shape, format_shape, parse_shape
from opproof.cases._rows.row import join

#: Factors in turn.
_FACTORS = ("", "beta=0.5;alpha=2.0", "alpha=-1.5", "beta=-0.25")


def _shape_result(a: Shape, b: Shape) -> Shape:
    return (*a[:-1], *b[-1:]) if len(b) > 1 else a[:-1]


def added(rows: Iterable[str], *, params: Iterable[str] = _FACTORS, lower: bool = False) -> list[str]:
    """`rows` of a and b, each with an x before them; parameter sets in turn.

    `lower` broadcasts every third x: along the rows, and then the columns too.
    """
    turns, ranks = cycle(params), cycle((None, 1, None, None, 0, None) if lower else (None,))
    found = []
    for row in rows:
        parts = row.lstrip("!").split(";")
        mark = row[: len(row) - len(row.lstrip("!"))]
        a, b = (parse_shape(part.partition("=")[2].replace("{n}", "0")) for part in parts[:2])
        rank, shape = next(ranks), _shape_result(a, b)
        kept = shape if rank is None or "special" in row else shape[-1:] if rank else (*shape[:-1], 1)
        factors = next(turns)
        found.append(mark + join(f"x={format_shape(kept)}", *parts[:2], factors, *parts[2:]))
    return found
