"""Rows of operators that draw numbers in the shape of x: every rank, every layout, long axes, and numbers given."""

from __future__ import annotations

from itertools import count

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join

_SHAPES = (
    ("33x65", ""),
    ("64x64", "layout=offset"),
    ("127x131", "layout=transposed"),
    ("5x7x9x11", "layout=permuted"),
    ("33x65", "layout=sliced"),
    ("33x65", "layout=gapped"),
    ("33x65", "layout=broadcast"),
    ("8x768", ""),
    ("256x256", ""),
    ("5x1031", ""),
    ("2x4099", "f32"),
    ("1,", ""),
    ("0d", ""),
    ("0x5", ""),
    ("33x65", "fill=special"),
    ("33x65", "fill=extreme"),
    ("33x65", "fill=zeros"),
    ("33x65", "fill=small"),
    ("33x65", "fill=negative"),
    ("2x3x1x2x3x5", "f32;layout=permuted"),
)
_GIVEN = (
    ("7x33", ""),
    ("2x3x17", "layout=permuted"),
    ("9x31", "layout=drawn:transposed"),
    ("9x31", "layout=x:sliced"),
    ("9x31", "layout=drawn:sliced"),
    ("9x32", "layout=gapped"),
    ("9x31", "layout=drawn:broadcast"),
    ("4x5x7", "layout=cropped"),
)


def drawn_rows(params: str, others: tuple[str, ...] = (), drop: tuple[str, ...] = ()) -> list[str]:
    """STANDARD rows, each with a key of its own; of `others` there is one each."""
    keys = count(1)
    rows = [join(f"x={s}", params, rest) for s, rest in _SHAPES if not any(d in rest for d in drop)]
    rows += [join("x=64x65", other) for other in others]
    return [
        *(join(row, f"key={next(keys)}") for row in rows),
        *(join(f"x={s}", f"drawn={s}", params, rest) for s, rest in _GIVEN),
    ]


def laid_draws(params: str) -> list[str]:
    """LAID rows."""
    return [join("x=2x3x5x9", params, "key=31;layout=cropped"), join("x=1x2", params, "key=32;layout=offset")]


def aligned_draws(params: str) -> list[str]:
    """ALIGNED rows."""
    shapes = ("16x64", "64x128", "32x128", "16x256", "2x16x64", "48x64", "16x1024")
    return aligned(*(join(f"x={shape}", params, f"key={40 + i}") for i, shape in enumerate(shapes)))


def long_draws(params: str) -> tuple[list[str], list[str]]:
    """LONG and LONGEST rows."""
    rows = ("x=1x{n}", "x={n}x2")
    return lengths(
        *(join(row, params, "key=50") for row in rows),
        *(join(f"{row};drawn={row[2:]}", params) for row in rows),
    )
