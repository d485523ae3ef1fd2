"""Rows in which one axis is long and all others are short: where 16-bit counters, grids and blocks end."""

from __future__ import annotations

from dataclasses import dataclass

from opproof.cases._rows.row import join, names_dtypes

#: Each one past a power of two, and the dtype in which it is tried.
LENGTHS = {1025: "f16", 4099: "bf16", 16385: "f32", 65537: "f16", 131073: "f32"}


@dataclass(frozen=True, slots=True)
class Limit:
    """An axis is no longer than `longest` in any row, and why not."""

    longest: int
    why: str


def lengths(*templates: str, dtype: str = "", upto: int = 131073) -> tuple[list[str], list[str]]:
    """Rows of standard level, and of full level: each template with the lengths in turn, none above `upto`.

    A length stands for `{n}`, twice the length for `{m}`.
    Lengths past 65,536 are of full level, but 65,537 is of standard level for the last template and for those that
    begin with `!`, and 131,073 for those that begin with `!!`.
    `dtype` stands in place of the lengths' own, as does one in a template.
    """
    standard: list[str] = []
    full: list[str] = []
    for i, given in enumerate(templates):
        template = given.lstrip("!")
        marks = len(given) - len(template)
        own = names_dtypes(template)
        for n, usual in LENGTHS.items():
            if n <= upto:
                row = join(template.format(n=n, m=2 * n), "" if own else dtype or usual)
                soon = n < 65536 or marks == 2 or (n == 65537 and (marks == 1 or i == len(templates) - 1))
                (standard if soon else full).append(row)
    return standard, full


def long_rows(rest: str = "", dtype: str = "") -> tuple[list[str], list[str]]:
    """Rows of an operator of the elements of one tensor `x`."""
    return lengths(join("x=1x{n}", rest), join("x={n}x1", rest), dtype=dtype)


def long_binary(rest: str = "", dtype: str = "") -> tuple[list[str], list[str]]:
    """Rows of two tensors `a` and `b` that broadcast: long in both, and in one beside a number."""
    rows = ("a={n}x1;b=1x2", "a=2x1;b={n}x1x1", "a=1x{n};b=1x{n}")
    return lengths(*(join(row, rest) for row in rows), dtype=dtype)


def long_dim(
    rest: str = "",
    dtype: str = "",
    past: tuple[str, ...] = ("x=2x{n};dim=-1", "x={n}x1;dim=-1"),
    halves: tuple[str, ...] = ("x=1x16389;dim=-1",),
) -> tuple[list[str], list[str]]:
    """Rows of an operator along `dim` of one tensor `x`: the axis, innermost and outermost, and one beside it.

    `past` are those of 65,537 in f32: the axis itself, which blocks of 32,768 sort and add apart, and rows of one.
    `halves` are in f16, where all dtypes are tried: numbers of 16 bits are fetched in twos.
    """
    rows = ("x=1x{n};dim=-1", "x={n}x1;dim=0", "x=2x{n};dim=0", "x={n}x2;dim=-1")
    standard, full = lengths(*(join(row, rest) for row in rows), dtype=dtype)
    found = [*(join(row.format(n=65537), rest, "f32") for row in past)]
    return [*standard, *found, *(join(row, rest, "f16") for row in halves if not dtype)], full


def long_pairs(first: str, second: str, rest: str = "", dtype: str = "") -> tuple[list[str], list[str]]:
    """Rows of two tensors of one shape."""
    rows = (f"{first}=1x{{n}};{second}=1x{{n}}", f"{first}={{n}}x2;{second}={{n}}x2")
    return lengths(*(join(row, rest) for row in rows), dtype=dtype)


#: The axes of a convolution's kernel.
KERNEL = Limit(1025, "the reference walks over the cells of a kernel, which takes seconds for 4099")

#: The first axis of what is 0d or a vector.
ONE_AXIS = Limit(0, "it is a vector, whose first axis is its last")
