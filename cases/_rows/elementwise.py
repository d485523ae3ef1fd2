"""Rows that families of operators share, each there because a class of real bugs needs it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

from opproof.cases._rows.row import join
from opproof.core.errors import CaseError, suggest

#: (tensor, rest) for one elementwise input. Sizes stand one below, at and past vector widths.
_ELEMENTWISE = (
    ("19,", ""),
    ("5x31", "fill=wide"),
    ("3x32", "layout=offset"),
    ("2x3x65", "layout=transposed"),
    ("2x3x4x7", "layout=permuted;fill=wide"),
    ("127,", "fill=extreme"),
    ("4x128", "layout=gapped"),
    ("3x33", "layout=sliced;fill=extreme"),
    ("5x63", "layout=broadcast"),
    ("2x257", "fill=zeros"),
    ("6x11", "fill=small"),
    ("2x97", "fill=positive"),
    ("2x99", "fill=negative;layout=transposed"),
    ("1x1x97x1", ""),
    ("66,", "fill=special"),
    ("3x0", ""),
    ("0d", ""),
    ("5x1031", ""),
    ("7x33", "inplace=x"),
    ("3x2x65", "layout=transposed;inplace=x"),
    ("3x1031", "layout=gapped;inplace=x"),
)


#: Limits of one elementwise input: where formulas switch, numbers about the smallest normal one, infinities.
_LIMITS = (
    ("66x11", "fill=branches"),
    ("9x33", "fill=least;f32,f16"),
    ("9x33", "fill=infinite;f32"),
    ("66x11", "fill=branches;f64"),
)


def dropped(drop: Iterable[str], rests: Iterable[str]) -> tuple[str, ...]:
    """The fills of `drop`. Raises CaseError for one that no row of `rests` has."""
    named = tuple(drop)
    known = sorted({part.removeprefix("fill=") for r in rests for part in r.split(";") if part.startswith("fill=")})
    for name in named:
        if not any(fill.startswith(name) for fill in known):
            hint = suggest(name, known, most=3)
            raise CaseError(
                f"drop={name!r} names a fill that none of these rows has: expected {' or '.join(known)}{hint}"
            )
    return named


def elementwise(params: Iterable[str] = ("",), *, kinks: bool = False, drop: Iterable[str] = ()) -> list[str]:
    """STANDARD rows of an operator of one tensor `x`, its parameter sets taken in turn.

    `kinks` adds rows that sit on them; `drop` names fills that make no sense for the operator.
    """
    drop = dropped(drop, (rest for _, rest in (*_ELEMENTWISE, *_LIMITS)))
    rows = [row for row in _ELEMENTWISE if not any(f"fill={d}" in row[1] for d in drop)]
    if kinks:
        rows += [("4x33", "fill=kink"), ("2x3x9", "fill=kink;layout=transposed"), ("5x33", "fill=edges")]
    rows += [row for row in _LIMITS if not any(f"fill={d}" in row[1] for d in drop)]
    choices = list(params)
    turns = cycle(choices)
    found = [join(f"x={shape}", next(turns), rest) for shape, rest in rows]
    seen = {p for p in choices if any(p in f for f in found)}
    once = [join("x=3x17", p) for p in choices if p not in seen]
    ranks = [join("x=2x3x1x2x3x5", choices[0], "f32", "layout=permuted"), join("x=4099,", choices[0])]
    return [*found, *once, every_value(choices[0]), *ranks]


def every_value(params: str = "") -> str:
    """The row that holds every number of f16 and bf16, and of longer dtypes one of every stretch."""
    return join("x=256x256", params, "fill=every")


def full_elementwise(params: Iterable[str] = ("",)) -> list[str]:
    """FULL rows: a row longer than 12288, more rows than 65535."""
    return [join(f"x={shape}", p) for p in params for shape in ("2x12289", "65537x3")]


#: Shapes of two tensors a and b that broadcast against each other, with the rest of the row.
_BINARY = (
    ("7x33", "7x33", ""),
    ("4x13", "1x13", ""),
    ("1x13", "4x13", ""),
    ("4x1", "1x5", "fill=wide"),
    ("33,", "5x33", "layout=b:transposed"),
    ("5x33", "33,", "layout=a:transposed"),
    ("2x3x4x9", "3x1x9", "layout=permuted"),
    ("2x1x4x1", "3x1x65", "layout=b:sliced"),
    ("3x65", "0d", ""),
    ("0d", "3x31", "layout=b:gapped"),
    ("5x63", "5x63", "layout=a:broadcast"),
    ("7x33", "7x33", "layout=a:gapped,b:broadcast"),
    ("4x31", "31,", "layout=a:sliced"),
    ("5x63", "5x63", "layout=b:sliced;fill=wide"),
    ("4x128", "4x128", "layout=offset"),
    ("3x127", "3x127", "fill=extreme"),
    ("2x257", "2x257", "fill=zeros"),
    ("6x11", "6x1", "fill=small;needs=b;f32"),
    ("6x13", "6x13", "needs=a"),
    ("6x13", "6x1", "needs=b"),
    ("5x17", "@a", ""),
    ("66,", "66,", "fill=special"),
    ("3x0", "3x1", ""),
    ("2x3x1", "1x1x97", "fill=offset"),
    ("5x1031", "5x1031", ""),
    ("1x1031", "5x1031", ""),
    ("7x33", "7x33", "inplace=a"),
    ("7x33", "7x33", "inplace=b"),
    ("5x131", "131,", "layout=a:gapped;inplace=a"),
    ("33,", "5x33", "layout=b:transposed;inplace=b"),
    ("9x9", "9,", ""),
    ("9,", "9x9", ""),
    ("2x1x3x1x2x5", "1x2x1x4x1x5", "f32;layout=permuted"),
    ("81,", "81,", "fill=special-pairs"),
    ("2x65x9x11", "65x1x1", ""),
    ("257x263", "263,", "f32"),
)


#: In a square a column of as many numbers as a row: who sums its gradient as a row's is right at all other shapes.
SQUARES = ("a=9x9;b=9x1", "a=9x1;b=9x9")
#: The largest and the smallest numbers meet: quotients, powers and squares overflow where the result does not.
EXTREMES_MEET = ("a=9x33;b=9x33;fill=limits",)


def binary(*, drop: Iterable[str] = (), exact: bool = False) -> list[str]:
    """STANDARD rows of an operator of two tensors a and b that broadcast."""
    drop = dropped(drop, (rest for *_, rest in _BINARY))
    rows = [join(f"a={a}", f"b={b}", rest) for a, b, rest in _BINARY if not any(f"fill={d}" in rest for d in drop)]
    return rows + (["a=2x3x5;b=3x1;fill=exact", "a=9x1;b=17,;fill=exact;layout=a:sliced"] if exact else [])


def full_binary() -> list[str]:
    """FULL rows of two tensors."""
    return ["a=2x12289;b=12289,", "a=65537x3;b=65537x1"]
