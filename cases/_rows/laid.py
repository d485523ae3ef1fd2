"""Rows of layouts that families share: the first rows of longer matrices, and tensors of one element at an offset.

Two columns of matrices are there for kernels that fold axes into one: an axis of one element has a stride too.
"""

from __future__ import annotations

from opproof.cases._rows.row import join, names_dtypes


def laid_rows(rest: str = "") -> list[str]:
    """Rows of an operator of the elements of one tensor `x`."""
    return [
        join("x=2x3x5x9", rest, "layout=cropped"),
        join("x=0d", rest, "layout=offset"),
        _in_f32(join("x=2x17x3x5", rest, "layout=planes")),
    ]


def laid_binary(rest: str = "") -> list[str]:
    """Rows of two tensors `a` and `b` that broadcast."""
    return [
        join("a=2x3x5x9;b=2x3x5x9", rest, "layout=cropped"),
        _in_f32(join("a=97x1;b=97x1", rest, "layout=gapped")),
        join("a=3x5x9;b=3x1x9", rest, "layout=a:cropped"),
        join("a=5x7;b=1x1", rest, "layout=b:offset"),
        join("a=0d;b=5x7", rest, "layout=a:offset"),
        _in_f32(join("a=2x17x3x5;b=2x17x3x5", rest, "layout=planes")),
        # one number a channel, as a bias is
        _in_f32(join("a=2x5x3x4;b=5x1x1", rest, "layout=a:channels")),
    ]


def laid_dim(rest: str = "") -> list[str]:
    """Rows of an operator along `dim` of one tensor `x`; five axes are more than some kernels have."""
    return [
        join("x=3x5x9;dim=-1", rest, "layout=cropped"),
        join("x=2x3x9x5;dim=1", rest, "layout=cropped"),
        join("x=3x2x2x3x2;dim=0", rest, "f32;layout=cropped"),
        join("x=2x3x2x5x4;dim=-2", rest, "f32;fill=positive"),
        join("x=2x3x4x2x5;dim=-1", rest, "f32;layout=planes"),
    ]


def laid_pairs(first: str, second: str, rest: str = "") -> list[str]:
    """Rows of two tensors of one shape."""
    columns = join(f"{first}=97x1;{second}=97x1", rest, "layout=gapped")
    planes = join(f"{first}=2x17x3x5;{second}=2x17x3x5", rest, "layout=planes")
    return [join(f"{first}=3x5x9;{second}=3x5x9", rest, "layout=cropped"), _in_f32(columns), _in_f32(planes)]


def _in_f32(row: str) -> str:
    """The row in that dtype alone, unless it names some."""
    return row if names_dtypes(row) else join(row, "f32")
