"""Cases of matmul_integer: all types, zero points of a matrix or of each column or none, every byte, long sums."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.integer_products import bare, in_all_types, of_types
from opproof.cases._rows.long import ONE_AXIS, lengths
from opproof.cases._rows.shapes import of_one_row

_TYPE = "b_type"
_ROWS = [
    "a=31x33;b=33x32",
    "a=5x64;b=64x63;a_zero_point=0d;b_zero_point=63,",
    "a=4x128;b=128x3;b_zero_point=3,;layout=a:transposed",
    "a=4x128;b=128x3;a_zero_point=0d;layout=b:transposed",
    "a=4x33;b=33x7;a_zero_point=0d;b_zero_point=7,;layout=sliced",
    "a=4x33;b=33x7;b_zero_point=7,;layout=b_zero_point:sliced",
    "a=4x33;b=33x7;b_zero_point=7,;layout=gapped",
    "a=4x33;b=33x7;a_zero_point=0d;b_zero_point=0d;layout=offset",
    "a=4x33;b=33x7;a_zero_point=0d;b_zero_point=7,;layout=offset",
    "a=7x33;b=33x5;layout=a:broadcast",
    "a=7x33;b=33x5;a_zero_point=0d;layout=b:broadcast",
    "a=2x3x4x17;b=2x3x17x6;a_zero_point=0d;b_zero_point=6,;layout=permuted",
    "a=2x3x4x5;b=5x6;a_zero_point=0d;layout=a:sliced",
    "a=3x4x5;b=3x5x6;b_zero_point=0d;layout=b:gapped",
    "a=2x1x4x7;b=3x7x2;a_zero_point=0d",
    "a=0x3;b=3x4",
    "a=3x0;b=0x4;a_zero_point=0d",
    "a=1x1;b=1x1;a_zero_point=0d;b_zero_point=0d",
    "a=3x257;b=257x5;a_zero_point=0d;b_zero_point=5,",
    "a=2x768;b=768x3",
    "a=2x3x4x5;b=2x3x5x6;layout=cropped",
    "a=1x1;b=1x3;layout=a:offset",
    "a=3x7;b=7x1;b_zero_point=1,;layout=offset",
]
SMOKE = ["a=7x33;b=33x5;a_zero_point=0d;b_zero_point=0d;type=i8;b_type=i8;f32"]
STANDARD = [
    *in_all_types("a=7x33;b=33x5;a_zero_point=0d;b_zero_point=5,", _TYPE),
    *in_all_types("a=7x33;b=33x5;a_zero_point=0d;b_zero_point=0d", _TYPE),
    *in_all_types("a=5x64;b=64x16", _TYPE),
    *in_all_types("a=16x31;b=31x17;a_zero_point=0d;b_zero_point=0d;fill=every-byte", _TYPE),
    *in_all_types("a=2x4128;b=4128x3;a_zero_point=0d;b_zero_point=0d", _TYPE),
    *in_all_types("a=2x4128;b=4128x3;fill=every-byte", _TYPE),
    *of_types(_ROWS, _TYPE),
    "a=9x33;b=33x9;b_zero_point=9,;type=u8;b_type=i8;f32",
]
ALIGNED = of_types(
    bare(
        aligned(
            "a=64x64;b=64x64",
            "a=64x128;b=128x64;a_zero_point=0d;b_zero_point=64,",
            "a=16x256;b=256x32",
            "a=32x256;b=256x16;a_zero_point=0d",
            "a=2x64x64;b=64x64",
            "a=16x128;b=128x16;a_zero_point=0d;b_zero_point=0d",
            "a=48x64;b=64x64;b_zero_point=64,",
            "a=16x64;b=64x16",
            "a=64x104;b=104x24",
        )
    ),
    _TYPE,
)
LONG, LONGEST = (
    of_types(rows, _TYPE, ("i8", "i8"), ("u8", "i8"))
    for rows in lengths(
        "a={n}x2;b=2x3;a_zero_point=0d;b_zero_point=3,",
        "!a=2x{n};b={n}x3",
        "a=1x2;b=2x{n};b_zero_point={n},",
        dtype="f32",
    )
)
SHORT = {"b_zero_point.first": ONE_AXIS}
FULL = [
    "a=4x12289;b=12289x5;a_zero_point=0d;b_zero_point=0d;type=u8;b_type=u8;f32",
    "a=65537x3;b=3x2;type=u8;b_type=i8;f32",
]
WITHOUT = {"16-bit sums": "sums are of integers, and in no float dtype"}
SHAPES = of_one_row("a=1x{k};b={k}x{n};a_zero_point=0d;b_zero_point=0d;type=u8;b_type=i8;f32")
