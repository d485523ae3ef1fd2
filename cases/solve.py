"""Cases of solve: both sides, batches that broadcast, matrices of 1 to 33 rows, small pivots."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths

SMOKE = ["a=4x4;b=4x3", "a=4x4;b=3x4;left=false"]
STANDARD = [
    "a=2x5x5;b=2x5x3",
    "a=1x1;b=1x1",
    "a=5x5;b=5x2;layout=a:transposed",
    "a=4x4;b=2x4;left=false;layout=b:transposed",
    "a=4x4;b=2x4;left=false;layout=transposed",
    "a=3x4x4;b=3x4x2;layout=permuted",
    "a=2x3x3x3;b=2x3x3x4;layout=a:sliced",
    "a=3x3;b=2x3x4",
    "a=2x3x3;b=3x4;layout=gapped",
    "a=4x4;b=4x3;layout=offset",
    "a=3x4x4;b=3x4x2;layout=b:broadcast",
    "a=4x4;b=4x3;needs=a",
    "a=4x4;b=4x3;needs=b",
    "a=5x5;b=5x2;fill=positive",
    "a=5x5;b=5x2;fill=wide",
    "a=6x6;b=6x3;fill=small;f64,f32,f16",
    "a=5x5;b=5x2;fill=offset;f32",
    "a=9x5x5;b=9x5x2;fill=pivots",
    "a=33x33;b=33x2;fill=pivots;f32",
    "a=0x0;b=0x3",
    "a=3x3;b=3x0",
    "a=4x4;b=4x33",
    "a=17x17;b=17x2;f32",
    "a=31x31;b=31x3;f32",
    "a=33x33;b=33x41;f32",
    "a=4x4;b=4x65;layout=b:sliced",
    "a=3x5x5;b=3x5x97;layout=a:broadcast,b:gapped",
    "a=257x2x2;b=257x2x1;f16,bf16",
]
LAID = ["a=2x3x3;b=2x3x4;layout=cropped", "a=1x1;b=1x3;layout=a:offset", "a=1x1;b=1x1;layout=offset"]
LONG, LONGEST = lengths("!a={n}x2x2;b={n}x2x1", "a=2x2;b=2x{n}", "a=3x3;b={n}x3;left=false")
ALIGNED = aligned(
    "a=16x16;b=16x16", "a=16x16;b=16x64", "a=32x32;b=32x16", "a=16x16;b=64x16;left=false", "a=2x16x16;b=2x16x32"
)
SHORT = {"a.last": Limit(0, "a is square, and a random matrix of 1000 rows takes seconds and loses digits")}
FULL = ["a=5x5;b=5x12289;f32", "a=65537x2x2;b=65537x2x1"]
WITHOUT = {
    "given twice": "a system whose right side is its matrix has the identity for a solution",
    "extreme": "rows of a hundred thousand times others make a matrix of which no digit is certain",
    "NaN, inf": "what elimination makes of NaN and infinity depends on the order of the rows",
}
