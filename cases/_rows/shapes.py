"""Rows of shapes that kernels have paths for: many rows that are wide, a long axis between others, all axes alike.

They stand in a file's SHAPES. What is derived of them is beside what is derived of a file's other rows, which keep
their ids.
"""

from __future__ import annotations

from opproof.cases._rows.row import join

_LETTERS = "abcdefghijklmnopq"
#: Terms and columns of the product of one row, as decoding has it: many of both, and more columns than 512.
_DECODED = ((1031, 67), (67, 515))


def wide_dim(rest: str = "", *, one: bool = True, long: bool = True, keep: bool = False) -> list[str]:
    """Rows of one tensor `x`: many that are wide; along a middle axis that is long, and of 1 unless `one` is False.

    `long` is False where no digit is left of so long a row, a product of a thousand numbers; `keep`: of a reduction,
    that axis is kept.
    """
    found = ["x=1031x67;dim=-1;f32", f"x=3x{1031 if long else 31}x5;dim=-2;f32"]
    found += ["x=3x1x5;dim=1;f32"] if one else []
    found += ["x=3x5x2;dim=1;keepdim=true"] if keep else []
    return [join(row, rest) for row in found]


def alone_dim(rest: str = "", whole: str = "i8,i32,u8") -> list[str]:
    """Rows of what searches along an axis, each of one number alone: many of them, long ones, in integers `whole`."""
    found = [
        "x=515x9;dim=-1;fill=alone",
        "x=11x8209;dim=-1;f32;fill=alone",
        *([f"x=9x33;dim=-1;{whole};fill=alone"] if whole else []),
    ]
    return [join(row, rest) for row in found]


def of_one_row(row: str, rest: str = "") -> list[str]:
    """Rows of the product of one row, {k} terms and {n} columns in `row`: kernels for vectors split both."""
    return [join(row.format(k=k, n=n), rest) for k, n in _DECODED]


def many(*shapes: str, rest: str, count: int = 17) -> str:
    """A row of `count` tensors, whose shapes are these in turn."""
    return join(*(f"{letter}={shapes[i % len(shapes)]}" for i, letter in enumerate(_LETTERS[:count])), rest)
