"""Cases of quantize_linear: every type, scales per tensor, token, channel and group, with zero points and without."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

_TYPES = ("i8", "u8", "f8e4m3", "f8e5m2")
_SHARED = ("scale=7x1", "scale=1x33", "scale=0d", "scale=7x3")
_FILLS = ("", ";fill=halves", ";fill=wide", ";fill=extreme")

SMOKE = ["x=7x33;scale=7x1;type=i8", "x=7x33;scale=0d;type=f8e4m3"]
STANDARD = [
    *(f"x=7x33;{shared};type={kind}{fill}" for kind in _TYPES for shared, fill in zip(_SHARED, _FILLS, strict=True)),
    *(f"x=7x33;{s};zero_point={s[6:]};type={k}" for k in ("i8", "u8") for s in ("scale=7x1", "scale=0d")),
    *(f"x=5x64;scale=5x1;zero_point=5x1;type={kind};fill=halves" for kind in ("i8", "u8")),
    *(f"x=7x33;scale={s};type={kind}" for s in ("0d;fill=kink", "7x3;fill=halves") for kind in ("i8", "u8")),
    *(f"x=31x65;scale=31x1;type={kind};fill=halves" for kind in ("i8", "u8")),  # a scale of 3 makes 1.5 a half
    "x=2x3x65;scale=1x3x1;zero_point=1x3x1;type=u8;layout=transposed",
    "x=6x33;scale=6x3;zero_point=6x3;type=i8;layout=x:transposed",
    "x=6x33;scale=6x3;zero_point=6x3;type=i8;layout=transposed",
    "x=6x33;scale=6x3;zero_point=6x3;type=i8;layout=sliced",
    "x=6x33;scale=6x3;zero_point=6x3;type=i8;layout=gapped",
    "x=6x33;scale=6x3;zero_point=6x3;type=u8;layout=offset",
    "x=6x33;scale=6x3;zero_point=6x3;type=u8;layout=x:broadcast",
    "x=6x33;scale=6x3;zero_point=6x3;type=u8;layout=scale:broadcast,zero_point:broadcast",
    "x=2x3x4x9;scale=2x3x4x1;type=i8;layout=permuted",
    "x=5x128;scale=5x1;type=f8e4m3;fill=zeros",
    "x=5x31;scale=1x31;type=i8;fill=kink",
    "x=5x31;scale=1x1;type=f8e4m3;fill=small;layout=scale:offset",
    "x=5x97;scale=5x1;type=i8;fill=negative",
    "x=0x33;scale=0d;type=i8",
    "x=1x1;scale=1x1;zero_point=1x1;type=i8",
    "x=19,;scale=0d;type=f8e5m2",
    "x=3x1031;scale=3x1;type=i8",
    *(f"x=7x33;scale=7x1;zero_point=7x1;type={kind};f32,bf16;fill=past-int32" for kind in ("i8", "u8")),
]
LAID = [
    "x=2x3x5x9;scale=2x3x5x3;zero_point=2x3x5x3;type=i8;layout=cropped",
    "x=5x7;scale=0d;zero_point=0d;type=u8;layout=offset",
    "x=5x7;scale=1x1;zero_point=1x1;type=u8;layout=offset",
    "x=2x3x17x5;scale=0d;zero_point=0d;type=u8;f32;layout=planes",
]
ALIGNED = aligned(
    "x=16x64;scale=16x1;type=i8",
    "x=64x128;scale=64x4;type=f8e4m3",
    "x=16x256;scale=0d;type=i8",
    "x=32x64;scale=32x1;type=u8",
    "x=2x16x64;scale=2x16x1;type=f8e4m3",
    "x=16x512;scale=1x512;type=i8",
    "x=48x64;scale=48x1;type=f8e5m2",
)
LONG, LONGEST = lengths(
    "x={n}x2;scale={n}x1;zero_point={n}x1;type=i8",
    "!x=2x{n};scale=1x{n};zero_point=1x{n};type=u8",
)
FULL = ["x=2x12289;scale=2x1;type=i8", "x=65537x3;scale=65537x1;type=f8e4m3"]
WITHOUT = {"NaN, inf": "what becomes of NaN is no rule that libraries share"}
