"""Rows of operators with boolean results, whose inputs must tie, be zero or be special often enough; and of bits."""

from __future__ import annotations

from opproof.cases._rows.row import join

#: Shapes of a and b, layouts, and the dtypes where not all.
_SHAPES = (
    ("66,", "66,", ""),
    ("4x13", "1x13", "layout=a:transposed"),
    ("1x5", "4x5", "layout=b:transposed"),
    ("9x1", "1x31", ""),
    ("33,", "5x33", "layout=b:sliced"),
    ("5x32", "32,", "layout=a:gapped"),
    ("2x3x4x9", "3x1x9", "layout=permuted"),
    ("2x1x33x1", "3x1x65", ""),
    ("3x66", "0d", ""),
    ("0d", "3x31", "layout=offset"),
    ("5x63", "5x63", "layout=a:broadcast"),
    ("7x33", "7x33", "layout=b:broadcast"),
    ("6x31", "6x31", "layout=b:gapped"),
    ("4x128", "4x128", "layout=offset"),
    ("3x127", "3x127", "layout=sliced"),
    ("2x257", "2x257", "layout=transposed"),
    ("3x0", "3x1", ""),
    ("1x1x97x1", "1x1x97x1", ""),
    ("5x1031", "5x1031", ""),
    ("9x9", "9,", ""),
    ("9,", "9x9", ""),
    ("2x1x3x1x2x5", "1x2x1x4x1x5", "layout=permuted"),
    ("2x65x9x11", "65x1x1", ""),
    ("257x263", "263,", "f32"),
)

_MANY = "x=2x3x1x2x3x5;f32;fill=special;layout=permuted"


def comparisons() -> list[str]:
    """STANDARD rows of a comparison: ties, halves, integers and kinks in turn, then special values.

    Large numbers are drawn equal in 16 bits only.
    """
    rows = _make_rows(("ties", "halves", "exact", "signs"), ("zeros", "kink", "special", "close"), "kink")
    return [*rows, "a=12x131;b=12x131;fill=extreme;f16,bf16", "a=81,;b=81,;fill=special-pairs"]


def truths() -> list[str]:
    """STANDARD rows of a logical operator: zeros in turn, then special values."""
    rows = _make_rows(("signs", "zeros"), ("special", "exact", "tiny"), "")
    return [*rows, "a=81,;b=81,;fill=special-pairs"]


def _make_rows(fills: tuple[str, ...], once: tuple[str, ...], scalar: str) -> list[str]:
    """`scalar` is the fill where one tensor is a single number, which might decide all; "" leaves these rows out."""
    turn = []
    for i, (a, b, rest) in enumerate(_SHAPES):
        if "0d" in (a, b) and not scalar:
            continue
        fill = scalar if "0d" in (a, b) else fills[i % len(fills)]
        turn.append(join(f"a={a}", f"b={b}", rest, f"fill={fill}"))
    return [*turn, *(f"a=12x131;b=12x131;fill={fill}" for fill in once)]


def classes() -> list[str]:
    """STANDARD rows of what asks whether one tensor holds NaN or infinities: all hold both, and numbers."""
    shapes = (
        ("66,", ""),
        ("5x31", "layout=transposed"),
        ("3x33", "layout=sliced"),
        ("3x32", "layout=offset"),
        ("2x3x4x9", "layout=permuted"),
        ("4x128", "layout=gapped"),
        ("9x63", "layout=broadcast"),
        ("2x257", ""),
        ("1x1x97x1", ""),
        ("3x0", ""),
        ("0d", ""),
        ("5x1031", ""),
        ("4099,", ""),
    )
    rows = [join(f"x={shape}", layout, "fill=special") for shape, layout in shapes]
    return [
        *rows,
        "x=21x7;fill=special-rows",
        "x=22x5;fill=special-rows",
        "x=12x131;fill=limits",
        "x=256x256;fill=every",
        _MANY,
    ]


def bits(*, shared: bool = True) -> list[str]:
    """STANDARD rows of two tensors of integers; where not `shared`, only the first has room for the result."""
    rows = [join(f"a={a}", f"b={b}", rest, "f32") for a, b, rest in _SHAPES]
    found = ["a=7x33;b=7x33;f32;inplace=a", "a=5x131;b=131,;f32;layout=a:gapped;inplace=a"]
    both = ["a=7x33;b=7x33;f32;inplace=b", "a=33,;b=5x33;f32;layout=b:transposed;inplace=b"]
    return [*rows, *found, *([*both, "a=9x33;b=9x33;f32;fill=meet"] if shared else ())]
