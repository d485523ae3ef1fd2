"""Cases of conv_integer: all types, zero points under padding, of the whole and of each channel, groups, every byte."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.integer_products import bare, in_all_types, of_types, windows
from opproof.cases._rows.long import KERNEL, ONE_AXIS, lengths

_TYPE = "weight_type"
_ROWS = [
    "x=2x3x5x7;weight=4x3x1x1;layout=offset",
    "x=2x3x9x6;weight=5x3x3x2;x_zero_point=0d;weight_zero_point=0d;stride=(2,1);padding=(1,0);layout=x:transposed",
    "x=2x3x6x9;weight=5x3x2x3;x_zero_point=0d;stride=(1,2);padding=(0,1);dilation=(2,1);layout=weight:transposed",
    "x=2x3x11x8;weight=2x3x3x3;x_zero_point=0d;weight_zero_point=2,;stride=(2,3);dilation=(3,2);padding=(2,3)",
    "x=2x6x7x9;weight=9x2x3x3;x_zero_point=0d;stride=2;padding=1;groups=3;layout=permuted",
    "x=2x4x9x7;weight=8x1x3x2;x_zero_point=0d;stride=(2,1);padding=(1,2);groups=4;layout=x:sliced",
    "x=3x5x8x7;weight=5x1x3x3;weight_zero_point=5,;groups=5;padding=1;dilation=2;layout=gapped",
    "x=2x4x9x9;weight=4x2x5x5;stride=2;padding=2;dilation=2;groups=2;layout=weight:sliced",
    "x=2x3x7x7;weight=4x3x3x3;x_zero_point=0d;weight_zero_point=4,;stride=2;layout=x:broadcast",
    "x=2x3x7x9;weight=4x3x3x3;x_zero_point=0d;weight_zero_point=4,;padding=1;layout=weight:broadcast",
    "x=2x3x7x9;weight=4x3x3x3;x_zero_point=0d;weight_zero_point=4,;padding=1;layout=weight_zero_point:sliced",
    "x=2x3x7x9;weight=4x3x3x3;x_zero_point=0d;weight_zero_point=4,;padding=1;layout=offset",
    "x=2x3x7x9;weight=4x3x3x3;x_zero_point=0d;weight_zero_point=0d;padding=1;layout=offset",
    "x=0x3x5x5;weight=4x3x3x3;x_zero_point=0d",
    "x=1x1x1x1;weight=1x1x1x1;x_zero_point=0d;weight_zero_point=0d",
    "x=2x65x4x5;weight=3x65x3x3;padding=1",
    "x=1x3x17x33;weight=33x3x3x3;x_zero_point=0d;padding=1;stride=2",
    "x=1x128x3x4;weight=2x128x3x3;x_zero_point=0d;weight_zero_point=0d;padding=1",
    "x=1x4128x2x2;weight=2x4128x1x2",
    "x=2x3x5x4;weight=4x3x2x3;layout=cropped",
    "x=1x1x1x1;weight=3x1x1x1;layout=x:offset",
    "x=2x1x3x4;weight=1x1x2x2;weight_zero_point=1,;layout=offset",
]
SMOKE = ["x=2x3x7x9;weight=4x3x3x3;x_zero_point=0d;weight_zero_point=0d;padding=1;type=i8;weight_type=i8;f32"]
STANDARD = [
    *in_all_types("x=2x3x7x9;weight=4x3x3x3;x_zero_point=0d;weight_zero_point=4,;padding=1", _TYPE),
    *in_all_types("x=2x4x9x7;weight=6x2x3x2;x_zero_point=0d;weight_zero_point=0d;stride=2;groups=2", _TYPE),
    *in_all_types("x=1x16x9x7;weight=16x16x3x3", _TYPE),
    *in_all_types("x=1x3x17x11;weight=10x3x3x3;x_zero_point=0d;fill=every-byte", _TYPE),
    *in_all_types("x=1x257x4x3;weight=2x257x3x3;fill=every-byte", _TYPE),
    *of_types(_ROWS, _TYPE),
]
ATTRIBUTES = of_types((f"{row};x_zero_point=0d" for row in windows()), _TYPE)
ALIGNED = of_types(
    bare(
        aligned(
            "x=2x16x8x8;weight=16x16x3x3;padding=1",
            "x=1x32x8x8;weight=32x32x3x3;x_zero_point=0d;padding=1",
            "x=1x16x16x16;weight=32x16x1x1",
            "x=1x64x4x8;weight=64x64x1x1;x_zero_point=0d;stride=2",
            "x=2x16x9x7;weight=16x16x3x3;padding=1;stride=2",
            "x=1x32x8x8;weight=32x16x3x3;x_zero_point=0d;groups=2;padding=1;dilation=2",
            "x=2x16x8x16;weight=48x16x3x3;weight_zero_point=48,;padding=1",
            "x=1x16x7x7;weight=16x1x3x3;x_zero_point=0d;groups=16;padding=1",
            "x=1x104x8x8;weight=24x104x1x1",
        )
    ),
    _TYPE,
)
LONG, LONGEST = (
    of_types(rows, _TYPE, ("i8", "i8"), ("u8", "i8"))
    for rows in lengths(
        "x={n}x1x2x2;weight=2x1x2x2;x_zero_point=0d",
        "x=1x{n}x1x2;weight=2x{n}x1x1",
        "x=1x1x{n}x2;weight=2x1x3x2",
        "!x=1x1x2x{n};weight=2x1x2x3",
        "x=1x1x2x2;weight={n}x1x2x2;weight_zero_point={n},",
        dtype="f32",
    )
)
LONG += of_types(
    lengths("x=1x1x{n}x1;weight=1x1x{n}x1", "x=1x1x1x{n};weight=1x1x1x{n}", dtype="f32", upto=1025)[0], _TYPE
)
SHORT = {"weight.2": KERNEL, "weight.3": KERNEL, "weight_zero_point.first": ONE_AXIS}
FULL = ["x=1x1x3x1031;weight=2x1x3x3;type=u8;weight_type=i8;f32"]
WITHOUT = {"16-bit sums": "sums are of integers, and in no float dtype"}
