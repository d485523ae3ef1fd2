"""Rows of backward operators of one gradient and one tensor of the same shape, reduced along the last axis or not."""

from __future__ import annotations

from opproof.cases._rows.elementwise import dropped

_ROWS = (
    ("9,", ""),
    ("5x31", "fill=wide"),
    ("3x32", "layout=offset"),
    ("2x3x65", "layout=FIRST:transposed"),
    ("2x3x33", "layout=SECOND:transposed"),
    ("2x3x4x7", "layout=permuted"),
    ("3x63", "layout=sliced"),
    ("4x64", "layout=gapped"),
    ("5x66", "layout=SECOND:broadcast"),
    ("7x33", "layout=FIRST:broadcast"),
    ("4x99", "fill=negative"),
    ("3x97", "fill=positive;layout=transposed"),
    ("4x128", "fill=offset"),
    ("25x7", "fill=special-rows"),
    ("6x11", "fill=small;f32,bf16"),
    ("2x257", "fill=zeros"),
    ("6x7", "fill=ties"),
    ("3x33", "fill=extreme;f32"),
    ("33x1", ""),
    ("0x3", ""),
    ("3x768", ""),
    ("130x3", ""),
    ("7x33", "inplace=FIRST"),
    ("7x31", "inplace=SECOND"),
    ("3x2x65", "layout=FIRST:transposed;inplace=FIRST"),
    ("2x1031", "f32,f16"),
    ("2x4099", "f32"),
)


def rows(first: str, second: str, params: tuple[str, ...] = ("",), drop: tuple[str, ...] = ()) -> list[str]:
    """STANDARD rows, parameter sets taken in turn; rows with a fill in `drop` left out."""
    found = []
    drop = dropped(drop, (rest for _, rest in _ROWS))
    for i, (shape, rest) in enumerate(_ROWS):
        if not any(f"fill={d}" in rest for d in drop):
            named = rest.replace("FIRST", first).replace("SECOND", second)
            parts = (f"{first}={shape};{second}={shape}", params[i % len(params)], named)
            found.append(";".join(p for p in parts if p))
    return found


def full(first: str, second: str) -> list[str]:
    """FULL rows."""
    return [f"{first}={shape};{second}={shape}" for shape in ("2x12289", "65537x3")]
