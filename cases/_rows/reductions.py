"""Rows that reductions and scans share: one axis, several, all; sizes around vector widths; every layout."""

from __future__ import annotations

from opproof.cases._rows.aligned import aligned
from opproof.core.errors import CaseError

_ONE_AXIS = (
    ("9,", "dim=0", ""),
    ("5x31", "dim=0", "fill=wide"),
    ("9x32", "dim=-1", "layout=offset"),
    ("2x3x65", "dim=1", "layout=transposed"),
    ("2x3x4x7", "dim=1", "layout=permuted"),
    ("9x33", "dim=-1", "fill=extreme;layout=sliced"),
    ("4x128", "dim=1", "layout=gapped"),
    ("5x7x9", "dim=1", "layout=broadcast"),
    ("9x97", "dim=-1", "fill=negative"),
    ("9x66", "dim=-1", "fill=positive;layout=transposed"),
    ("9x257", "dim=-1", "fill=zeros"),
    ("6x11", "dim=-2", "fill=small"),
    ("17x99", "dim=-1", "fill=offset"),
    ("33x7", "dim=-1", "fill=special"),
    ("25x7", "dim=-1", "fill=special-rows"),
    ("7x25", "dim=0", "fill=special-columns"),
    ("4x1", "dim=-1", ""),
    ("0x3", "dim=-1", ""),
    ("3x0", "dim=-1", ""),
    ("3x768", "dim=0", ""),
    ("5x1031", "dim=-1", ""),
    ("2x4099", "dim=-1", "f32"),
    ("5x1031", "dim=-1", "fill=spread;f32"),
    ("2x3x2x5x3x4", "dim=3", "layout=permuted;f32"),
    ("6x6x6", "dim=1", "layout=transposed"),
)

#: Several axes at once, all of them, and keepdim: what only reductions take.
SEVERAL = (
    "x=5x3x7x2;dim=(1,3);layout=permuted",
    "x=2x3x4x7;dim=(-1,0);keepdim=true",
    "x=6x11;dim=None",
    "x=6x11;dim=None;keepdim=true;layout=transposed",
    "x=3x5x9;dim=1;keepdim=true;layout=gapped",
    "x=5x3x7;dim=(0,2);layout=broadcast;f32",  # equal slices count each
)

#: Neighbouring axes at once, which a kernel folds into one: those of SEVERAL have another axis between them. So many
#: results that a kernel which loses an element loses a largest one somewhere.
TOGETHER = (
    "x=9x7x3x5;dim=(2,3);f32,f16",
    "x=33x3x5;dim=(1,2);keepdim=true;f32,bf16",
    "x=5x3x33;dim=(0,1);f32,f16",
)

FULL = ["x=2x12289;dim=-1", "x=65537x3;dim=-1"]


#: Rows whose sums and means of different data come out equal in bf16, being of one sign; and all whose variances do,
#: being long: such rows prove nothing there.
ONE_SIGN = ("9x97", "9x66", "17x99")
CONCENTRATING = (*ONE_SIGN, "9x257", "4x128", "5x1031", "3x768")


def one_axis(extra: str = "", *, drop: tuple[str, ...] = (), concentrates: tuple[str, ...] = ()) -> list[str]:
    """A row per rule with `dim` one axis; `extra` parts stand in each; rows with a part in `drop` are left out.

    `concentrates`: shapes that give nearly the same value whatever the data, and are not tried in bf16.
    """
    rows: list[str] = []
    for part in drop:
        if not any(part in (f"x={shape}", dim, *rest.split(";")) for shape, dim, rest in _ONE_AXIS):
            raise CaseError(f"drop={part!r} is no part of any of these rows, such as 'fill=wide'")
    for shape, dim, rest in _ONE_AXIS:
        parts = [f"x={shape}", dim, *([extra] if extra else []), *([rest] if rest else [])]
        if shape in concentrates:
            parts.append("f32,f16")
        if not set(drop) & set(";".join(parts).split(";")):
            rows.append(";".join(parts))
    return rows


#: Of products along an axis: whole tiles of short rows.
ALIGNED_PRODUCTS = aligned(
    "x=64x16;dim=-1",
    "x=16x64;dim=0",
    "x=16x128;dim=0",
    "x=48x16;dim=-1",
    "x=2x16x64;dim=1",
    "x=16x256;dim=0",
    "x=2x16x32;dim=1",
)
