"""Rows of a norm of rows with a weight and a tensor that is added: `{s}` stands for the shape, `{n}` for its end."""

from __future__ import annotations

from collections.abc import Iterable

from opproof.cases._rows.aligned import LONG, aligned
from opproof.cases._rows.elementwise import dropped
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN, join

_ROWS = (
    ("7x33", "inplace=x"),
    ("3x2x65", "layout=x:transposed;inplace=x"),
    ("9x33", "eps=1e-12;fill=small"),
    ("9x65", "fill=offset-1e3;f32,f16"),
    ("9x65", "fill=offset-1e4;f32"),
    ("9x65", "fill=heavy;f16"),
    ("25x7", "fill=special-rows"),
    ("5x31", "eps=0.1;fill=wide"),
    ("3x32", "layout=offset"),
    ("2x3x65", "layout=transposed"),
    ("2x3x4x7", "layout=permuted"),
    ("3x33", "fill=extreme;f32"),
    ("3x33", "layout=sliced"),
    ("4x128", "layout=gapped"),
    ("5x63", "layout=x:broadcast"),
    ("5x64", "needs=x"),
    ("5x64", "needs=weight;layout=x:transposed"),
    ("3x97", "fill=offset"),
    ("33x4", "fill=constant"),
    ("2x257", "fill=zeros"),
    ("4x66", "fill=negative"),
    ("33x1", ""),
    ("0x5", ""),
    ("2x1031", ""),
    ("2x4099", "f32"),
    ("65x3", "fill=special"),
    ("31x65", f"eps={512 * BETWEEN};f16,bf16"),
    ("9x9", ""),
)
_ALIGNED = ("16x64", "64x128", "32x128", "16x256", "2x16x64", "48x64", "2x3x16x32", "32x64", *LONG)


def rows(tensors: str, given: Iterable[tuple[str, str]] = _ROWS, drop: Iterable[str] = ()) -> list[str]:
    """STANDARD rows; those of a fill in `drop` left out."""
    given = list(given)
    drop = dropped(drop, (rest for _, rest in given))
    kept = [row for row in given if not any(f"fill={d};" in f"{row[1]};" for d in drop)]
    return [join(_filled(tensors, shape), rest) for shape, rest in kept]


def _filled(tensors: str, shape: str) -> str:
    return tensors.format(s=shape, n=f"{shape.rstrip(',').rpartition('x')[2]},")


def aligned_norm(tensors: str) -> list[str]:
    """ALIGNED rows."""
    return aligned(*(join(_filled(tensors, s), LONG.get(s, "")) for s in _ALIGNED))


def long_norm(tensors: str) -> tuple[list[str], list[str]]:
    """LONG and LONGEST rows."""
    return lengths(*(tensors.format(s=s, n=n) for s, n in (("{n}x2", "2,"), ("2x{n}", "{n},"))))
