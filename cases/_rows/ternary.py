"""Rows of an operator of three tensors that broadcast: every kind of broadcast, each tensor laid out in turn."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

from opproof.cases._rows.elementwise import dropped
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join

#: Shapes of the three, with the rest of the row; A, B and C stand for their names.
_ROWS = (
    ("7x33", "7x33", "7x33", "inplace=A"),
    ("7x33", "7x33", "7x33", "inplace=B"),
    ("5x31", "5x31", "5x31", "inplace=C"),
    ("2x3x17", "2x3x17", "0d", "layout=A:transposed;inplace=A"),
    ("9,", "9,", "9,", ""),
    ("5x31", "5x31", "0d", "fill=wide"),
    ("3x32", "1x32", "3x1", "layout=offset"),
    ("2x3x65", "3x65", "65,", "layout=A:transposed"),
    ("2x3x4x7", "2x3x4x7", "3x1x1", "layout=permuted"),
    ("1x5", "4x1", "4x5", "layout=C:sliced"),
    ("4x128", "4x128", "4x128", "layout=gapped"),
    ("5x63", "5x63", "5x63", "layout=C:broadcast"),
    ("2x257", "2x257", "2x257", "fill=zeros"),
    ("6x11", "6x11", "6x11", "fill=offset"),
    ("3x33", "3x33", "3x33", "layout=B:transposed"),
    ("5x13", "5x13", "5x13", "needs=B"),
    ("5x13", "5x13", "5x1", "needs=C"),
    ("5x17", "5x17", "@A", ""),
    ("3x0", "3x0", "3x1", ""),
    ("0d", "0d", "0d", ""),
    ("5x1031", "5x1031", "1031,", ""),
    ("7x33", "7x33", "7x33", "layout=A:broadcast,B:broadcast,C:transposed"),
    ("7x33", "7x33", "7x33", "layout=A:sliced,B:sliced"),
    ("66,", "66,", "66,", "fill=special"),
    ("9x9", "9x9", "9,", ""),
    ("2x1x3x1x2x5", "1x2x1x4x1x5", "2x1x1x4x1x5", "f32;layout=permuted"),
    ("2x65x9x11", "65x1x1", "2x1x1x11", ""),
    ("257x263", "263,", "257x1", "f32"),
    ("9x9", "9,", "9x9", ""),
)
_LAID = (
    ("2x3x4", "2x3x4", "2x3x4", "layout=cropped"),
    ("3x5", "3x5", "0d", "layout=C:offset"),
    ("0d", "3x5", "3x5", "layout=A:offset"),
    ("3x5", "0d", "3x5", "layout=B:offset"),
)
_LONG = (("{n}x2",) * 3, ("1x{n}", "2x{n}", "1x{n}"), ("1x{n}",) * 3)


def _make_row(names: tuple[str, str, str], shapes: Iterable[str], *rest: str) -> str:
    text = join(*(f"{name}={shape}" for name, shape in zip("ABC", shapes, strict=True)), *rest)
    for letter, name in zip("ABC", names, strict=True):
        text = text.replace(letter, name)
    return text


def ternary(names: tuple[str, str, str], params: Iterable[str] = ("",), drop: Iterable[str] = ()) -> list[str]:
    """STANDARD rows; parameter sets in turn; `drop` names fills that make no sense for the operator."""
    turns = cycle(params)
    drop = dropped(drop, (rest for *_, rest in _ROWS))
    kept = [row for row in _ROWS if not any(f"fill={d}" in row[3] for d in drop)]
    return [_make_row(names, shapes, next(turns), rest) for *shapes, rest in kept]


def laid_ternary(names: tuple[str, str, str]) -> list[str]:
    """LAID rows."""
    return [_make_row(names, shapes, rest) for *shapes, rest in _LAID]


def long_ternary(names: tuple[str, str, str]) -> tuple[list[str], list[str]]:
    """LONG and LONGEST rows."""
    return lengths(*(_make_row(names, shapes) for shapes in _LONG))
