"""Cases of solve_triangular: both triangles, both sides, given and implied diagonals, batches that broadcast."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths

SMOKE = [
    "a=4x4;b=4x3;upper=false",
    "a=4x4;b=3x4;upper=true;left=false",
]
STANDARD = [
    "a=2x5x5;b=2x5x3;upper=true;fill=masked",
    "a=2x5x5;b=2x5x3;upper=false;unitriangular=true;fill=masked",
    "a=1x1;b=1x1;upper=true",
    "a=5x5;b=5x2;upper=true",
    "a=5x5;b=5x2;upper=false;unitriangular=true",
    "a=5x5;b=5x2;upper=true;unitriangular=true;layout=a:transposed",
    "a=4x4;b=2x4;upper=false;left=false;layout=b:transposed",
    "a=4x4;b=2x4;upper=true;left=false;unitriangular=true",
    "a=4x4;b=2x4;upper=false;left=false;unitriangular=true;layout=transposed",
    "a=3x4x4;b=3x4x2;upper=false;layout=permuted",
    "a=2x3x3x3;b=2x3x3x4;upper=true;layout=a:sliced",
    "a=3x3;b=2x3x4;upper=true",
    "a=2x3x3;b=3x4;upper=false;layout=gapped",
    "a=4x4;b=4x3;upper=false;layout=offset",
    "a=3x4x4;b=3x4x2;upper=true;layout=b:broadcast",
    "a=4x4;b=4x3;upper=true;needs=a",
    "a=4x4;b=4x3;upper=false;needs=b",
    "a=5x5;b=5x2;upper=true;fill=positive",
    "a=5x5;b=5x2;upper=false;fill=wide",
    "a=6x6;b=6x3;upper=false;fill=small",
    "a=4x4;b=4x3;upper=true;fill=zeros",
    "a=0x0;b=0x3;upper=true",
    "a=3x3;b=3x0;upper=false",
    "a=4x4;b=4x33;upper=false",
    "a=17x17;b=17x2;upper=false;f32",
    "a=31x31;b=31x3;upper=true;unitriangular=true;fill=small;f32",
    "a=33x33;b=33x41;upper=false;unitriangular=true;fill=small;f32",
    "a=33x33;b=33x2;upper=true;unitriangular=true;fill=small;f32",
    "a=4x4;b=4x65;upper=true;layout=b:sliced",
    "a=3x5x5;b=3x5x97;upper=false;layout=a:broadcast,b:gapped",
    "a=4x4;b=4x3;upper=false;fill=extreme",
    "a=257x2x2;b=257x2x1;upper=true;f16,bf16",
]
LAID = [
    "a=2x3x3;b=2x3x4;upper=true;layout=cropped",
    "a=1x1;b=1x3;upper=true;layout=a:offset",
    "a=1x1;b=1x1;upper=true;layout=offset",
]
LONG, LONGEST = lengths(
    "!a={n}x2x2;b={n}x2x1;upper=true", "a=2x2;b=2x{n};upper=false", "a=3x3;b={n}x3;upper=true;left=false"
)
ALIGNED = aligned(
    "a=16x16;b=16x16;upper=true;unitriangular=true;fill=small",
    "a=16x16;b=16x64;upper=false;unitriangular=true;fill=small",
    "a=32x32;b=32x16;upper=true;unitriangular=true;fill=small",
    "a=16x16;b=64x16;upper=false;left=false;unitriangular=true;fill=small",
    "a=2x16x16;b=2x16x32;upper=true;unitriangular=true;fill=small",
    "a=64x64;b=64x16;upper=false;unitriangular=true;fill=small",
    "a=2x16x16;b=2x16x16;upper=true;unitriangular=true;fill=small",
)
SHORT = {"a.last": Limit(0, "a is square, and of a random triangle of 1000 rows no digit of the solution is certain")}
FULL = [
    "a=5x5;b=5x12289;upper=false;f32",
    "a=65537x2x2;b=65537x2x1;upper=true",
]
WITHOUT = {
    "given twice": "a system whose right side is its matrix has the identity for a solution",
    "NaN, inf": "some libraries multiply the zeros beyond the triangle by infinity, some do not",
}
SHAPES = [
    # a block of 64 and a tail
    "a=70x70;b=70x3;upper=true;unitriangular=true;fill=small;f32",
    "a=70x70;b=70x3;upper=false;unitriangular=true;fill=small;f32",
    "a=70x70;b=3x70;upper=false;left=false;unitriangular=true;fill=small;f32",
    "a=5x5;b=5x2;upper=true;fill=masked-special;f32",
    "a=2x5x5;b=2x5x3;upper=false;unitriangular=true;fill=masked-special;f32",
]
