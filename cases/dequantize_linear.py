"""Cases of dequantize_linear: every type, scales per tensor, token, channel and group, zero points or none."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

_TYPES = ("i8", "u8", "f8e4m3", "f8e5m2")

SMOKE = ["data=7x33;scale=7x1;type=i8", "data=7x33;scale=0d;type=f8e4m3"]
STANDARD = [
    *(f"data=7x33;scale={s};type={kind}" for kind in _TYPES for s in ("7x1", "1x33", "0d", "7x3")),
    *(f"data=7x33;scale={s};zero_point={s};type={k}" for k in ("i8", "u8") for s in ("7x1", "0d")),
    *(f"data=256x5;scale=256x1;type={kind};f32,bf16;fill=every-byte" for kind in _TYPES),
    "data=2x3x65;scale=1x3x1;zero_point=1x3x1;type=u8;layout=transposed",
    "data=6x33;scale=6x3;zero_point=6x3;type=i8;layout=transposed",
    "data=6x33;scale=6x3;zero_point=6x3;type=i8;layout=data:sliced",
    "data=6x33;scale=6x3;zero_point=6x3;type=i8;layout=sliced",
    "data=6x33;scale=6x3;zero_point=6x3;type=i8;layout=gapped",
    "data=6x33;scale=6x3;zero_point=6x3;type=u8;layout=offset",
    "data=6x33;scale=6x3;zero_point=6x3;type=u8;layout=data:broadcast",
    "data=6x33;scale=6x3;zero_point=6x3;type=u8;layout=scale:broadcast,zero_point:broadcast",
    "data=2x3x4x9;scale=2x3x4x1;type=i8;layout=permuted",
    "data=5x128;scale=5x1;type=f8e4m3;fill=zeros",
    "data=5x31;scale=5x31;type=i8;fill=extreme",
    "data=5x97;scale=5x97;type=i8;fill=wide",
    "data=0x33;scale=0d;type=i8",
    "data=1x1;scale=1x1;zero_point=1x1;type=i8",
    "data=19,;scale=0d;type=f8e5m2",
    "data=2x1031;scale=2x1;type=i8",
    "data=2x4128;scale=2x1;type=f8e4m3",
]
LAID = [
    "data=2x3x5x9;scale=2x3x5x3;zero_point=2x3x5x3;type=i8;layout=cropped",
    "data=5x7;scale=0d;zero_point=0d;type=u8;layout=offset",
    "data=5x7;scale=1x1;zero_point=1x1;type=u8;layout=offset",
    "data=2x3x17x5;scale=0d;zero_point=0d;type=u8;f32;layout=planes",
]
ALIGNED = aligned(
    "data=16x64;scale=16x1;type=i8",
    "data=64x128;scale=64x4;type=f8e4m3",
    "data=16x256;scale=0d;type=i8",
    "data=32x64;scale=32x1;type=u8",
    "data=2x16x64;scale=2x16x1;type=f8e4m3",
    "data=16x512;scale=1x512;type=i8",
    "data=48x64;scale=48x1;type=f8e5m2",
)
LONG, LONGEST = lengths(
    "data={n}x2;scale={n}x1;zero_point={n}x1;type=i8",
    "!data=2x{n};scale=1x{n};zero_point=1x{n};type=u8",
)
FULL = ["data=2x12289;scale=2x1;type=i8", "data=65537x3;scale=65537x1;type=f8e4m3"]
WITHOUT = {"NaN, inf": "a special scale decides all that shares it, and the sums of its gradient"}
SHAPES = [
    *(f"data=7x33;scale=7x1;type={kind};f32,bf16;fill=nan-codes" for kind in ("f8e4m3", "f8e5m2")),
]
