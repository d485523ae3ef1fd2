"""Rows of sums of products of 8-bit integers: in f32, the dtype of their scales, and of both types of both operands."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

from opproof.cases._rows.row import join
from opproof.cases._rows.windows import conv_attributes

#: Types of both operands, those that most libraries have first.
PAIRS = (("u8", "i8"), ("i8", "i8"), ("u8", "u8"), ("i8", "u8"))


def of_types(rows: Iterable[str], second: str, *pairs: tuple[str, str]) -> list[str]:
    """`rows` in f32, with the types of `pairs` in turn, of all where none is given; `second` names the other's type."""
    turns = cycle(pairs or PAIRS)
    return [_typed(row, second, *next(turns)) for row in rows]


def in_all_types(row: str, second: str) -> list[str]:
    """`row` in f32, in all types."""
    return [_typed(row, second, *pair) for pair in PAIRS]


def _typed(row: str, second: str, first: str, other: str) -> str:
    return join(row, f"type={first};{second}={other}", "f32")


def windows() -> list[str]:
    """Attributes of windows over two axes, in no dtype; not of one number, which may be its zero point."""
    rows = (row for row in conv_attributes(2) if not row.startswith("x=1x1x1x1;"))
    return [row.removesuffix(";f16,f32").removesuffix(";f16,bf16") for row in rows]


def bare(rows: Iterable[str]) -> list[str]:
    """`rows` of whole tiles without their dtypes."""
    parts = ([part for part in row.split(";") if not part.startswith("f16")] for row in rows)
    return [";".join(kept) for kept in parts]
