"""Rows that resizing operators share; `rest` stands in each, behind the size."""

from __future__ import annotations

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join

_LAID = (("x=2x3x5x4;size=(7,9)", "layout=cropped"), ("x=1x1x1x1;size=(2,3)", "layout=offset"))
_WHOLE = (
    *("x=2x3x5x3;size=(10,9)", "x=2x3x3x5;size=(9,10)", "x=2x3x12x6;size=(4,3)"),
    *("x=2x3x9x12;size=(3,4)", "x=1x2x8x16;size=(2,4)", "x=1x2x3x5;size=(9,15)"),
    # several times as tall as wide, and as wide as tall
    *("x=2x3x9x2;size=(18,4)", "x=2x3x2x9;size=(6,18)", "x=2x3x16x4;size=(8,2)", "x=1x2x13x3;size=(26,9)"),
)
_ALIGNED = (
    "x=1x16x16x16;size=(32,32)",
    "x=1x2x16x16;size=(32,16)",
    "x=1x4x32x32;size=(16,16)",
    "x=2x3x16x32;size=(24,48)",
    "x=2x3x16x16;size=(32,32)",
    "x=1x3x16x16;size=(16,64)",
    "x=1x3x16x64;size=(32,128)",
)
_LONG = (
    "x={n}x1x2x3;size=(3,2)",
    "x=1x{n}x3x2;size=(2,3)",
    "x=1x1x{n}x2;size=(3,2)",
    "x=1x1x2x3;size=(2,{n})",
    "x=1x1x2x{n};size=(1,4)",
)


def laid_resized(rest: str = "") -> list[str]:
    """Rows of layouts."""
    return [join(row, rest, layout) for row, layout in _LAID]


def whole_resized(rest: str = "") -> list[str]:
    """Rows of planes that are no squares, larger and smaller by integers, one an axis, and one for both."""
    return [join(row, rest) for row in _WHOLE]


def aligned_resized(rest: str = "") -> list[str]:
    """Rows of whole tiles."""
    return aligned(*(join(row, rest) for row in _ALIGNED))


def long_resized(rest: str = "") -> tuple[list[str], list[str]]:
    """Rows of standard and of full level in which an axis, or a size, is long."""
    return lengths(*(join(row, rest) for row in _LONG))
