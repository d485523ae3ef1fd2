"""Rows of the losses that compare x with a target of its shape: every reduction, layouts and parameter sets in turn."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

from opproof.cases._rows.elementwise import dropped
from opproof.cases._rows.row import join

#: "mean" over many elements only in f32: in f16 such gradients are subnormal, and zeros would pass.
_ROWS = (
    ("9,", "mean", ""),
    ("5x31", "none", "fill=wide"),
    ("3x32", "sum", "layout=offset"),
    ("2x3x65", "none", "layout=x:transposed"),
    ("3x9", "mean", "layout=target:transposed"),
    ("2x3x4x7", "none", "layout=permuted;fill=wide"),
    ("4x127", "sum", "layout=sliced"),
    ("4x128", "mean", "layout=gapped;f32"),
    ("5x63", "none", "layout=x:broadcast"),
    ("5x63", "sum", "layout=target:broadcast"),
    ("2x257", "none", "fill=zeros"),
    ("6x11", "sum", "fill=offset"),
    ("6x11", "none", "fill=small;f32"),
    ("6x13", "none", "fill=negative;needs=target"),
    ("2x13", "mean", "fill=wide;needs=x"),
    ("4x99", "none", "fill=extreme"),
    ("66,", "none", "fill=special"),
    ("25x7", "none", "fill=special-rows"),
    ("1x1x31x1", "mean", ""),
    ("0d", "sum", ""),
    ("9x131", "none", ""),
    ("130x7", "mean", "f32"),
    ("5x1031", "sum", "f32"),
    ("1x4099", "sum", "f16,bf16"),
    ("3x0", "sum", ""),
    ("5x9", "none", "layout=offset"),
    ("4x65", "none", "layout=gapped;f16,bf16"),
    ("2x4x8", "mean", "layout=offset"),
    ("1031x67", "sum", "f32"),
)


def losses(params: Iterable[str] = ("",), *, drop: Iterable[str] = ()) -> list[str]:
    """STANDARD rows; `drop` names fills that make no sense for the loss."""
    turns = cycle(params)
    drop = dropped(drop, (rest for *_, rest in _ROWS))
    rows = [row for row in _ROWS if not any(f"fill={d}" in row[2] for d in drop)]
    return [join(f"x={s}", f"target={s}", f"reduction={r}", next(turns), rest) for s, r, rest in rows]


def full_losses() -> list[str]:
    """FULL rows: a row longer than 12288, more rows than 65535."""
    return ["x=2x12289;target=2x12289;reduction=none", "x=65537x3;target=65537x3;reduction=none"]
