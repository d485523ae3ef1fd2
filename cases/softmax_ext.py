"""Cases of softmax_ext: masks broadcast over batch and heads, ALiBi with head counts that are no power of two, sinks,
rows left empty.
"""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import HALVES, mixed
from opproof.cases._rows.reasons import SCORES
from opproof.cases._rows.row import BETWEEN

SMOKE = ["x=2x3x5x33;mask=2x1x5x33;max_bias=8.0;scale=0.5"]
STANDARD = [
    "x=2x3x5x33;mask=2x1x5x33;max_bias=8.0;scale=0.5;inplace=x",
    "x=2x3x5x17;scale=0.5;layout=x:permuted;inplace=x",
    "x=1x40x3x5;mask=3x5;max_bias=8.0",
    "x=5x9x33;fill=far",
    "x=5x9x33;fill=farther;f32",
    "x=2x4x5x9;mask=2x1x5x9;scale=0.5;fill=far",
    "x=2x4x5x9;keep=2x1x5x9;fill=masked",
    "x=2x4x5x9;mask=2x1x5x9;keep=5x9;sinks=4,;scale=0.5;max_bias=4.0;fill=masked",
    "x=2x2x3x257;keep=2x1x3x257;fill=padded",
    "x=2x2x3x257;mask=2x1x3x257;fill=padded",
    "x=25x2x3x7;fill=special-rows",
    "x=25x7;scale=0.5;fill=special-rows",
    "x=1x1x3x9;scale=0.125",
    "x=2x3x4x7;mask=4x7",
    "x=2x3x5x31;mask=2x1x5x31;max_bias=8.0;fill=wide",
    "x=3x4x5x33;mask=3x1x5x33;max_bias=4.0;scale=0.3;layout=x:transposed",
    "x=2x6x3x32;mask=1x6x3x32;max_bias=8.0;layout=mask:transposed",
    "x=2x12x2x17;mask=2x1x2x17;sinks=12,;max_bias=8.0;scale=-0.7",
    "x=2x5x3x65;mask=2x5x3x65;sinks=5,;layout=permuted",
    "x=2x3x4x63;sinks=3,;scale=0.125;layout=x:sliced",
    "x=2x3x7x3;keep=2x1x7x3",
    "x=3x2x33x2;mask=3x1x33x2;keep=33x2;max_bias=2.0;layout=keep:transposed",
    "x=2x4x9x2;sinks=4,;keep=2x1x9x2;layout=gapped",
    "x=2x3x5x9;mask=2x1x5x9;sinks=3,;keep=2x1x5x9;max_bias=8.0;scale=0.25;layout=offset",
    "x=2x3x4x66;mask=2x1x4x66;max_bias=8.0;layout=mask:broadcast",
    "x=2x3x4x13;mask=4x13;sinks=3,;max_bias=1.0;needs=mask,sinks",
    "x=2x3x4x13;mask=2x3x4x13;max_bias=8.0;scale=0.5;needs=x",
    "x=2x2x4x15;mask=2x1x4x15;scale=2.0;fill=wide;layout=sliced",
    "x=2x3x4x11;sinks=3,;fill=negative",
    "x=2x3x4x11;mask=4x11;sinks=3,;fill=offset",
    "x=2x3x4x5;mask=4x5;scale=0.0001;fill=extreme;f32",
    "x=2x3x4x5;sinks=3,;fill=extreme;f32",
    "x=2x3x4x99;mask=1x3x1x99;fill=ties",
    "x=3x2x4x1;mask=4x1;max_bias=8.0",
    "x=0x3x4x5;mask=4x5",
    "x=5x17x2x257;mask=5x1x2x257;max_bias=8.0;scale=0.5",
    "x=1x2x2x1031;mask=2x1031;max_bias=8.0;f32,f16",
    "x=1x1x2x4099;sinks=1,;f32",
    f"x=2x3x4x65;mask=4x65;sinks=3,;scale={32 * BETWEEN};f16,bf16",
    f"x=2x33x33x5;scale={BETWEEN};f16,bf16",
    "x=2x3x4x5;mask=4x5;sinks=3,;fill=zeros",
    "x=2x12x2x17;mask=2x1x2x17;sinks=12,;max_bias=8.0;scale=-0.7;layout=x:broadcast,mask:gapped,sinks:sliced",
    "x=2x3x7x3;keep=2x1x7x3;layout=keep:broadcast",
    "x=2x3x7x3;keep=2x1x7x3;layout=keep:sliced",
    "x=2x3x17x3;mask=2x1x17x3;fill=special",
    "x=1x2x2x1031;mask=2x1031;max_bias=8.0;bf16",
    "x=3x5x257;fill=past-exp",
    "x=2x3x5x33;keep=2x1x5x33;fill=truths",
    "x=2x5x3x5;sinks=5,",
]
MIXED = mixed(
    "mask",
    HALVES,
    "x=2x3x5x33;mask=2x1x5x33;scale=0.5",
    "x=2x4x3x32;mask=2x1x3x32;max_bias=8.0",
    "x=1x2x4x17;mask=1x1x4x17;fill=wide",
)
LAID = [
    "x=2x3x4x5;mask=2x1x4x5;keep=2x1x4x5;layout=cropped",
    "x=2x3x4x5;mask=2x3x4x5;max_bias=8.0;layout=mask:cropped",
    "x=2x3x4x5;keep=2x3x4x5;layout=keep:cropped",
    "x=1x1x1x5;sinks=1,;layout=sinks:offset",
    "x=1x1x1x1;mask=1x1;keep=1x1;sinks=1,;layout=offset",
]
ALIGNED = aligned(
    "x=1x2x16x64;mask=16x64",
    "x=2x2x64x128;mask=2x1x64x128;max_bias=8.0",
    "x=2x2x16x128;keep=2x1x16x128;scale=0.5",
    "x=1x8x16x256;sinks=8,",
    "x=2x2x16x64;mask=16x64;keep=16x64",
    "x=2x2x32x64;mask=2x1x32x64;sinks=2,",
    "x=2x3x16x32;mask=2x1x16x32",
    "x=1x2x16x1024;mask=16x1024;f16,f32",
    "x=1x1x16x4096;mask=16x4096;f16,bf16",
)
LONG, LONGEST = lengths(
    "!x={n}x1x1x3;mask={n}x1x1x3;keep={n}x1x1x3",
    "!x=1x{n}x1x2;sinks={n},",
    "x=1x1x{n}x3;mask={n}x3;keep={n}x3",
    "x=1x1x2x{n};mask=2x{n};keep=2x{n}",
)
SHAPES = [
    "x=1x3x3x16391;fill=crest;f32",
    "x=1x3x343x67;mask=1x1x343x67;scale=0.25;f32",
]
FULL = ["x=1x2x1x12289;mask=1x12289;max_bias=8.0", "x=2x5x6554x3;mask=6554x3;sinks=5,"]
WITHOUT = SCORES
PAIRED = [
    "x=3x4x5x7;scale=0.25;max_bias=8.0",
]
