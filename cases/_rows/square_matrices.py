"""Rows that operators of square matrices share: 1 to 33 rows, batches, each layout, far from zero and small."""

from opproof.cases._rows.long import Limit, lengths

SMOKE = ["x=4x4"]
STANDARD = [
    "x=3x5x5",
    "x=1x1",
    "x=2x2;fill=wide",
    "x=2x3x3x3;layout=permuted",
    "x=7x7;layout=transposed",
    "x=9x9;layout=sliced",
    "x=8x8;layout=gapped",
    "x=5x6x6;layout=offset",
    "x=2x4x3x3;layout=broadcast",
    "x=16x16;f32",
    "x=33x33;f32",
    "x=66x3x3;f32",
    "x=97x2x2;f32",
    "x=17x17;f16,bf16",
    "x=33x33;f16,bf16",
    "x=65x65;bf16",
    "x=331x2x2;f16,bf16",
    "x=5x4x4;fill=offset;f32",
    "x=5x3x3;fill=positive",
    "x=5x4x4;fill=kink",
    "x=0x0",
    "x=0x3x3",
]
#: What eliminates without swapping rows divides by 0 here.
SWAPPED = ["x=9x5x5;fill=pivots", "x=6x2x2;fill=pivots", "x=33x33;fill=pivots;f32"]
LAID = ["x=4x3x3;layout=cropped", "x=1x1;layout=offset"]
LONG, LONGEST = lengths("!x={n}x1x1", "x={n}x2x2;f32")
SHORT = {"x.last": Limit(0, "matrices are square, and a random one of 1000 rows takes seconds and loses digits")}
FULL = ["x=65537x2x2;f32", "x=129x129;f32"]
WITHOUT = {
    "extreme": "rows of a hundred thousand times others make a matrix of which no digit is certain",
    "NaN, inf": "what elimination makes of NaN and infinity depends on the order of the rows",
}
