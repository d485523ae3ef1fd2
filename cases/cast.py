"""Cases of cast: down to f16 and bf16 and up to f32, ties, overflow, subnormals; fills that no difference can judge."""

from opproof.cases._rows.long import lengths

SMOKE = [
    "x=7x33;to=f16;fill=wide;f32",
    "x=7x33;to=bf16;fill=wide;f32",
]
STANDARD = [
    "x=7x33;to=f16;fill=wide;f32;inplace=x",
    "x=7x33;to=bf16;fill=wide;f32;inplace=x",
    "x=3x2x65;to=f16;fill=wide;layout=transposed;f32;inplace=x",
    "x=9,;to=bf16;fill=wide;f32,f16",
    "x=5x31;to=f16;fill=small;layout=transposed;f32",
    "x=5x31;to=bf16;fill=small;layout=transposed;f32,f16",
    "x=3x32;to=f16;fill=wide;layout=offset;f32",
    "x=2x3x65;to=bf16;fill=wide;layout=permuted;f32,f16",
    "x=2x3x4x7;to=f16;fill=wide;layout=permuted;f32",
    "x=3x33;to=bf16;fill=extreme;layout=sliced;f32,f16",
    "x=3x33;to=f16;fill=extreme;layout=sliced;f32,bf16",
    "x=4x128;to=f16;fill=wide;layout=gapped;f32",
    "x=5x63;to=bf16;fill=wide;layout=broadcast;f32,f16",
    "x=3x66;to=f16;fill=special;f32,bf16",
    "x=3x66;to=bf16;fill=special;f32,f16",
    "x=4x9;to=f32;fill=wide;layout=transposed;f16,bf16",
    "x=6x12;to=f16;fill=small;bf16",
    "x=6x11;to=bf16;fill=subnormal;f16",
    "x=3x0;to=f16;f32",
    "x=4x128;to=bf16;fill=wide;layout=gapped;f16",
    "x=4x128;to=f16;fill=small;layout=gapped;bf16",
    "x=5x63;to=f16;fill=small;layout=broadcast;bf16",
    "x=3x32;to=bf16;fill=wide;layout=offset;f16",
    "x=3x32;to=f16;fill=small;layout=offset;bf16",
    "x=5x33;to=f32;fill=extreme;bf16",
    "x=2x1031;to=f16;fill=small;bf16",
    "x=0d;to=bf16;fill=wide;f32",
    "x=2x1031;to=f16;fill=wide;f32",
    "x=2x1031;to=bf16;fill=wide;f32,f16",
    "x=5x9;to=f32;fill=wide;f32",
    "x=3x32;to=bf16;fill=negative;f32,f16",
    "x=256x256;to=f16;fill=every;f32,bf16",
    "x=256x256;to=bf16;fill=every;f32,f16",
    "x=256x256;to=f32;fill=every;f16,bf16",
    "x=2x3x1x2x3x5;to=f16;f32;layout=permuted",
    "x=4099,;to=bf16;fill=wide;f32",
    "x=9x33;to=f16;fill=midpoints;f32",
    "x=9x33;to=bf16;fill=midpoints;f32,f16",
]
TYPED = [
    "x=9x33;to=f8e4m3;fill=midpoints;f32,f16",
    "x=9x33;to=f8e5m2;fill=midpoints;f32,f16",
    "x=7x33;to=f8e4m3;fill=wide;f32,f16,bf16",
    "x=5x31;to=f8e5m2;fill=wide;layout=transposed;f32,bf16",
    "x=3x33;to=f8e4m3;fill=extreme;layout=sliced;f32",
    "x=256x256;to=f8e5m2;fill=every;f16",
    "x=256x256;to=f8e4m3;fill=every;bf16",
    "x=16x16;to=f32;fill=every;f8e4m3,f8e5m2",
    "x=7x33;to=f8e5m2;fill=wide;f8e4m3",
    "x=4x64;to=bf16;fill=wide;f8e5m2",
    "x=5x31;to=f8e4m3;fill=wide;layout=transposed;f8e5m2",
    "x=66,;to=f16;fill=special;f8e5m2",
    "x=7x33;to=i32;i8,u8",
    "x=7x33;to=i8;fill=exact;i32",
    "x=4x64;to=f32;fill=ends;i16,u8",
    "x=5x31;to=f16;layout=transposed;i8",
    "x=5x63;to=i16;layout=broadcast;u8",
    "x=3x0;to=i32;i8",
]
LAID = ["x=2x3x4;to=bf16;fill=wide;layout=cropped;f32,f16", "x=0d;to=f16;fill=wide;layout=offset;f32"]
LONG, LONGEST = lengths("x={n}x1;to=bf16;fill=wide;f32", "x=1x{n};to=f16;fill=wide;f32")
FULL = [
    "x=2x12289;to=f16;fill=wide;f32",
    "x=65537x3;to=bf16;fill=wide;f32,f16",
]
