"""Cases of scaled_matmul: every type of codes, scales per tensor, row and group, floats and of 8 bits."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import NORMS, mixed
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.shapes import of_one_row

_TYPES = ("i8", "i4", "f8e4m3", "f8e5m2", "f4e2m1")
#: Codes of 4 bits are two in a byte.
_BYTES = {"i4": 2, "f4e2m1": 2}
_MX = "type=f4e2m1;scales=f8e8m0"
_NV = "type=f4e2m1;scales=f8e4m3"


def _row(kind: str, x: str, k: int, n: int | str, scale: str, rest: str = "") -> str:
    parts = (f"x={x}x{k}", f"weight={n}x{k // _BYTES.get(kind, 1)}", f"scale={scale}", f"type={kind}", rest)
    return ";".join(p for p in parts if p)


SMOKE = [_row("i8", "3", 32, 5, "5x1"), f"x=3x64;weight=5x32;scale=5x2;{_MX}"]
STANDARD = [
    *(_row(kind, "3", 64, 7, "7x2") for kind in _TYPES),
    *(_row(kind, "2x3", 32, 5, "0d", "fill=wide") for kind in _TYPES),
    *(_row(kind, "33", 66, 9, "9x1", "layout=x:transposed") for kind in _TYPES),
    *(_row(kind, "2", 4, 256, "256x1", "f32,bf16;fill=every-byte") for kind in _TYPES),
    f"x=4x64;weight=9x32;scale=9x2;{_MX};layout=weight:transposed",
    f"x=4x64;weight=9x32;scale=9x4;{_NV};layout=scale:transposed",
    f"x=2x3x96;weight=31x48;scale=31x3;{_MX}",
    f"x=31x32;weight=5x16;scale=5x2;{_NV};fill=zeros",
    f"x=4x48;weight=9x24;scale=9x3;{_NV}",
    f"x=3x80;weight=7x40;scale=7x5;{_NV}",
    "x=4x64;weight=9x64;scale=9x2;type=f8e4m3;scales=f8e8m0",
    "x=4x64;weight=9x64;scale=9x2;type=f8e4m3;layout=transposed",
    "x=4x64;weight=9x64;scale=9x2;type=i8;layout=x:sliced",
    "x=4x64;weight=9x64;scale=9x2;type=i8;layout=weight:sliced,scale:gapped",
    "x=4x64;weight=9x64;scale=9x2;type=i8;layout=scale:sliced,x:gapped",
    "x=4x64;weight=9x32;scale=9x2;type=i4;layout=weight:gapped,x:broadcast",
    "x=4x64;weight=9x32;scale=9x2;type=i4;layout=offset",
    "x=4x64;weight=9x64;scale=9x2;type=f8e5m2;layout=weight:broadcast",
    "x=4x64;weight=9x64;scale=9x2;type=f8e4m3;layout=scale:broadcast",
    "x=2x3x5x32;weight=4x32;scale=4x1;type=i8;layout=permuted",
    "x=3x64;weight=5x64;scale=5x2;type=i8;fill=offset;f32,f16",
    "x=3x64;weight=5x64;scale=5x2;type=f8e4m3;fill=small;f32,bf16",
    "x=4x64;weight=9x64;scale=9x2;type=i8;needs=x",
    "x=4x64;weight=9x64;scale=9x1;type=f8e4m3;needs=scale",
    "x=4x64;weight=9x64;scale=0d;type=i8;needs=scale",
    "x=0x32;weight=3x32;scale=3x1;type=i8",
    "x=3x0;weight=4x0;scale=4x1;type=i8",
    "x=1x1;weight=1x1;scale=0d;type=f8e4m3",
    "x=2x4128;weight=3x4128;scale=3x129;type=i8",
    "x=3x130;weight=2x130;scale=2x1;type=f8e5m2",
]
#: Scales of f32 with f16 or bf16 data, as checkpoints keep them.
MIXED = mixed(
    "scale",
    NORMS,
    _row("i8", "3", 64, 7, "7x1"),
    _row("i4", "5", 64, 16, "16x2"),
    _row("f8e4m3", "2x3", 96, 5, "5x3", "layout=x:transposed"),
    _row("i8", "4", 33, 9, "0d"),
    _row("i4", "3", 128, 9, "9x4", "fill=wide"),
    _row("f4e2m1", "16", 64, 32, "32x2"),
)
LAID = [
    "x=2x3x32;weight=5x32;scale=5x2;type=i8;layout=cropped",
    "x=3x1;weight=1x1;scale=1x1;type=i8;layout=weight:offset,scale:offset",
    "x=1x1;weight=3x1;scale=0d;type=i8;layout=x:offset,scale:offset",
]
ALIGNED = aligned(
    _row("i8", "64", 64, 64, "64x1"),
    _row("f8e4m3", "64", 128, 64, "64x4"),
    _row("i4", "16", 256, 32, "32x2"),
    _row("f8e5m2", "32", 256, 16, "0d"),
    f"x=2x64x64;weight=64x32;scale=64x2;{_MX}",
    f"x=16x256;weight=16x128;scale=16x16;{_NV}",
    _row("f8e4m3", "48", 64, 64, "64x1"),
    _row("i8", "64", 64, 128, "0d"),
)
LONG, LONGEST = lengths(
    "x={n}x2;weight=3x2;scale=3x1;type=i8",
    "!x=2x{n};weight=1x{n};scale=1x1;type=f8e4m3",
    "x=1x{n};weight=2x{n};scale=2x{n};type=i8",
    "x=2x2;weight={n}x2;scale={n}x1;type=i8",
)
FULL = ["x=8x12289;weight=4x12289;scale=4x1;type=i8", "x=65537x3;weight=2x3;scale=2x1;type=f8e4m3"]
WITHOUT = {
    **PRODUCTS,
    "growing": "its weights are integers, which have no gradient",
    "NaN, inf": "a special number meets every code of a row, and no result of it is finite",
}
SHAPES = [
    *(_row(kind, "3", 64, 7, "7x2", "f32,bf16;fill=nan-codes") for kind in ("f8e4m3", "f8e5m2")),
    f"x=4x64;weight=9x32;scale=9x2;{_MX};f32;fill=nan-codes",
    *(
        row
        for kind in ("i8", "f8e4m3")
        for row in of_one_row(f"x=1x{{k}};weight={{n}}x{{k}};scale={{n}}x1;type={kind};f32")
    ),
    *(f"x=1x{k};weight={n}x{k // 2};scale={n}x{k // 32};{_MX};f32" for k, n in ((1056, 67), (64, 515))),
]
