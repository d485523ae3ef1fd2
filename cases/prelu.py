"""Cases of prelu: one weight and one per channel, in every rank; weights of both signs."""

from opproof.cases._rows.long import lengths

SMOKE = ["x=7x33;weight=33,", "x=7x33;weight=1,"]
STANDARD = [
    "x=7x33;weight=33,;inplace=x",
    "x=3x5x17;weight=1,;layout=x:transposed;inplace=x",
    "x=2x5x9;weight=5,;fill=edges",
    "x=2x5x9;weight=5,;fill=infinite;f32",
    "x=9,;weight=1,",
    "x=0d;weight=1,",
    "x=5x31;weight=31,;fill=wide",
    "x=3x32;weight=1,;layout=offset",
    "x=2x3x65;weight=3,;layout=x:transposed",
    "x=2x3x4x7;weight=3,;layout=permuted;fill=wide",
    "x=2x9x4x7;weight=9,;layout=weight:sliced",
    "x=4x127;weight=127,;fill=extreme",
    "x=3x5x33;weight=1,;fill=extreme;layout=sliced",
    "x=4x128;weight=128,;layout=gapped",
    "x=5x63;weight=63,;layout=x:broadcast",
    "x=2x257;weight=1,;fill=zeros",
    "x=6x11;weight=11,;fill=small",
    "x=2x5x99;weight=5,;fill=negative;layout=x:transposed",
    "x=6x11;weight=11,;needs=x",
    "x=6x11;weight=1,;needs=weight",
    "x=66,;weight=1,;fill=special",
    "x=4x33;weight=33,;fill=kink",
    "x=2x3x9;weight=3,;fill=kink;layout=x:transposed",
    "x=3x0;weight=1,",
    "x=1x1x7x1;weight=1,",
    "x=33x5x67;weight=5,",
    "x=5x1031;weight=1,;f32",
    "x=3x66;weight=66,;fill=special",
    "x=4099x3;weight=3,;f16,bf16",
    "x=9x9;weight=9,",
    "x=2x3x1x2x3x5;weight=3,;f32;layout=x:permuted",
    "x=2x9x9;weight=9,;layout=x:transposed",
]
LAID = ["x=2x3x4;weight=3,;layout=cropped", "x=3x5;weight=1,;layout=weight:offset", "x=0d;weight=1,;layout=x:offset"]
LONG, LONGEST = lengths("x={n}x2;weight=2,", "!x=2x{n};weight={n},", "x=1x2x{n};weight=2,")
FULL = ["x=2x12289;weight=12289,", "x=65537x3;weight=3,"]
WITHOUT = {
    "growing": "a slope acts where x is negative, and all of this fill is positive",
    "axes apart": "a weight is a vector of channels: that of the shape of x is drawn, in no row",
}
