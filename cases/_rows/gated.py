"""Rows of the gated units: one tensor split in halves, swapped, and two tensors; parameter sets in turn."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

from opproof.cases._rows.elementwise import dropped
from opproof.cases._rows.row import join

#: Shape of one tensor (of two, where `x` holds both halves), layouts and fills.
_ONE = (
    ("18,", ""),
    ("5x62", "fill=wide"),
    ("3x64", "layout=offset"),
    ("2x3x130", "layout=transposed"),
    ("2x3x4x14", "layout=permuted;fill=wide"),
    ("3x66", "layout=sliced;fill=candle-2114"),
    ("4x256", "layout=gapped"),
    ("5x126", "layout=broadcast"),
    ("66,", "fill=special"),
    ("9x2", ""),
    ("3x0", ""),
    ("3x2062", ""),
)
_TWO = (
    ("9,", ""),
    ("5x31", "fill=wide;layout=x:transposed"),
    ("3x65", "layout=gate:transposed"),
    ("2x3x4x7", "layout=permuted"),
    ("127,", "fill=candle-2114"),
    ("4x128", "layout=gate:sliced"),
    ("5x63", "layout=x:broadcast"),
    ("2x257", "fill=zeros"),
    ("6x11", "fill=ties;needs=gate"),
    ("6x13", "needs=x"),
    ("4x7", "layout=x:gapped,gate:offset"),
    ("6x32", "layout=gate:gapped"),
    ("5x9", "layout=gate:broadcast"),
    ("2x99", "fill=negative"),
    ("7x33", "inplace=x"),
    ("7x33", "inplace=gate"),
    ("3x2x65", "layout=x:transposed;inplace=x"),
)


def gated(params: Iterable[str] = ("",), *, drop: Iterable[str] = ()) -> list[str]:
    """STANDARD rows; `params` are taken in turn, as is `swapped`; `drop` names fills that show nothing."""
    turns, swaps = cycle(params), cycle(("", "swapped=true"))
    one = [join(f"x={shape}", next(turns), next(swaps), rest) for shape, rest in _ONE]
    two = [join(f"x={shape}", f"gate={shape}", next(turns), rest) for shape, rest in _TWO]
    three = [join(row, next(turns)) for row in ("x=2x1536", "x=2x768;gate=2x768")]  # 3 · 2⁸, between powers of two
    rows = [*one, *two, "x=5x17;gate=@x", *three]
    drop = dropped(drop, rows)
    return [row for row in rows if not any(f"fill={d}" in row for d in drop)]
