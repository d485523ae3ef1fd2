"""Rows of gated units behind two products of x (..., k) with gate and up (n, k); `params` in turn."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join

#: Leading axes of x, k, n, rest of the row.
_ROWS = (
    ("7", 33, 5, ""),
    ("31", 9, 32, ""),
    ("5", 64, 63, "fill=wide"),
    ("5", 97, 3, "layout=transposed"),
    ("2x3x5", 7, 6, "layout=permuted"),
    ("3", 5, 6, "layout=sliced"),
    ("2x3", 5, 6, "layout=gapped"),
    ("4", 5, 6, "layout=offset"),
    ("5", 9, 3, "layout=x:broadcast"),
    ("5", 9, 3, "layout=gate:broadcast"),
    ("5", 9, 3, "layout=up:broadcast,gate:transposed"),
    ("4", 7, 3, "needs=x"),
    ("4", 7, 3, "needs=gate"),
    ("4", 7, 3, "needs=up"),
    ("4", 33, 5, "fill=zeros"),
    ("0", 3, 4, ""),
    ("2", 1031, 3, "f16,bf16"),
    ("33", 1, 35, "f32"),
)


def _make_row(lead: str, k: int | str, n: int | str, *rest: str) -> str:
    return join(f"x={lead}x{k};gate={n}x{k};up={n}x{k}", *rest)


def rows(params: Iterable[str] = ("",)) -> list[str]:
    """STANDARD rows."""
    turns = cycle(params)
    return [_make_row(lead, k, n, next(turns), rest) for lead, k, n, rest in _ROWS]


LAID = [
    _make_row("2x3", 5, 4, "layout=cropped"),
    _make_row("1", 1, 3, "layout=x:offset"),
    _make_row("3", 1, 1, "layout=gate:offset,up:offset"),
]
_SIZES = (
    ("64", 64, 64),
    ("128", 64, 64),
    ("64", 128, 64),
    ("64", 64, 192),
    ("2x64", 64, 64),
    ("16", 32, 48),
    ("64", 64, 64),
)


def aligned_gates(params: str = "") -> list[str]:
    """ALIGNED rows."""
    return aligned(*(_make_row(lead, k, n, params) for lead, k, n in _SIZES))


LONG, LONGEST = lengths(_make_row("{n}", 2, 3), "!!" + _make_row("2", "{n}", 1), _make_row("2", 3, "{n}"))
FULL = [_make_row("4", 12289, 3), _make_row("65537", 3, 2)]
WITHOUT = {
    "extreme": "in sums of products size is no special case, and partial sums overflow by their order",
    "NaN, inf": "at -inf silu and gelu have two definitions",
}
