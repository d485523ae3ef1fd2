"""Cases of dropout: drawn, and with a mask given; p from 0 to 1, keys, not training, each layout, long rows."""

from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import lengths

# Not 0.9: where results in f16 and bf16 lie halfway between two numbers, as those of 10 x do, p kept in float32 decides
# for one side. Not 0.99, of which float32 keeps few digits of 1 - p, but 127/128.
SMOKE = ["x=33x65;p=0.3;key=7"]
STANDARD = [
    "x=33x65;p=0.4",
    "x=33x65;key=1",
    "x=64x64;key=2",
    "x=64x64;p=0.87;key=3",
    "x=64x64;p=0.9921875;key=4",
    "x=64x64;p=0.1;key=5",
    "x=127x131;p=0.01;key=6",
    "x=1x33;p=0.0;key=7",
    "x=1x1031;p=1.0;key=8",
    "x=1x33;p=0.3;training=false;key=9",
    "x=64x64;p=0.3;key=123456789",
    "x=256x256;p=0.23;key=10",
    "x=8x768;p=0.1;key=11",
    "x=5x7x9x11;p=0.4;key=12;layout=permuted",
    "x=33x65;p=0.4;key=13;layout=transposed",
    "x=33x65;p=0.4;key=14;layout=sliced",
    "x=33x65;p=0.4;key=15;layout=gapped",
    "x=33x65;p=0.4;key=16;layout=broadcast",
    "x=33x65;p=0.4;key=17;layout=offset",
    "x=0d;p=0.3;key=18",
    "x=1,;p=0.3;key=19",
    "x=0x5;p=0.3;key=20",
    "x=33x65;p=0.3;key=21;fill=wide",
    "x=33x65;p=0.3;key=22;fill=small",
    "x=33x65;p=0.3;key=23;fill=extreme",
    "x=33x65;p=0.3;key=24;fill=special",
    "x=33x65;p=0.3;key=25;fill=zeros",
    "x=33x65;p=0.3;key=26;fill=subnormal",
    "x=33x65;mask=33x65;p=0.3",
    "x=7x33;mask=7x33;p=0.87;fill=wide",
    "x=2x3x17;mask=2x3x17;p=0.1;layout=permuted",
    "x=9x31;mask=9x31;p=0.4;layout=mask:transposed",
    "x=9x31;mask=9x31;p=0.4;layout=x:sliced",
    "x=1x9;mask=1x9;p=0.4;training=false",
]
LAID = [
    *laid_rows("p=0.4;key=27"),
    "x=4x5x7;mask=4x5x7;p=0.4;layout=cropped",
    *(
        f"x=9x31;mask=9x31;p=0.4;layout={layout}"
        for layout in ("sliced", "gapped", "offset", "transposed", "broadcast")
    ),
]
LONG, LONGEST = lengths(
    "x=1x{n};p=0.3;key=28", "x={n}x1;p=0.3;key=29", "x=1x{n};mask=1x{n};p=0.3", "x={n}x1;mask={n}x1;p=0.3"
)
FULL = ["x=1024x1024;p=0.3;key=1;f32"]
