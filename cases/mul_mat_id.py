"""Cases of mul_mat_id: experts chosen by nobody and by many, one vector for all experts or one for each."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import WEIGHTS, mixed
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.shapes import of_one_row

SMOKE = [
    "a=4x5x7;b=3x2x7;ids=3x2",
    "a=4x5x7;b=3x1x7;ids=3x2",
]
STANDARD = [
    "a=1x1x1;b=1x1x1;ids=1x1",
    "a=8x3x9;b=5x2x9;ids=5x2;fill=wide",
    "a=8x3x9;b=5x1x9;ids=5x4",
    "a=2x31x33;b=3x2x33;ids=3x2",
    "a=4x5x32;b=9x3x32;ids=9x3;layout=offset",
    "a=4x5x9;b=6x2x9;ids=6x2;layout=a:transposed",
    "a=4x5x9;b=6x2x9;ids=6x2;layout=b:transposed",
    "a=4x5x9;b=6x3x9;ids=6x3;layout=ids:transposed",
    "a=4x5x9;b=6x3x9;ids=6x3;layout=permuted",
    "a=4x5x9;b=6x3x9;ids=6x3;layout=ids:sliced",
    "a=4x5x9;b=6x1x9;ids=6x3;layout=a:gapped,b:sliced",
    "a=4x5x9;b=6x2x9;ids=6x2;layout=b:broadcast",
    "a=3x4x7;b=5x2x7;ids=5x2;needs=a",
    "a=3x4x7;b=5x1x7;ids=5x3;needs=b",
    "a=4x5x33;b=3x2x33;ids=3x2;fill=offset;f32,f16",
    "a=4x5x33;b=3x2x33;ids=3x2;fill=zeros",
    "a=3x5x9;b=3x1x9;ids=3x2;fill=exact",
    "a=5x3x17;b=9x2x17;ids=9x2;fill=signs;layout=a:transposed",
    "a=3x4x5;b=0x2x5;ids=0x2",
    "a=33x2x3;b=65x1x3;ids=65x2",
    "a=3x4x257;b=3x2x257;ids=3x2",
    "a=2x3x1031;b=2x2x1031;ids=2x2",
    "a=3x37x9;b=9x4x9;ids=9x4",
    "a=4x5x7;b=3x2x7;ids=3x2;layout=a:broadcast,b:gapped,ids:broadcast",
    "a=4x5x7;b=3x2x7;ids=3x2;layout=a:sliced,ids:gapped",
    "a=5x9x2;b=33x2x2;ids=33x2;fill=special",
    "a=5x9x3;b=33x2x3;ids=33x2;fill=special",
    "a=2x3x4099;b=2x2x4099;ids=2x2;f16,bf16",
    "a=2x1x2;b=4099x1x2;ids=4099x1;fill=growing;f16,bf16",
]
MIXED = mixed(
    "a",
    WEIGHTS,
    "a=4x5x33;b=3x2x33;ids=3x2",
    "a=3x7x32;b=5x1x32;ids=5x2",
    "a=4x5x9;b=6x2x9;ids=6x2;layout=a:transposed",
    "a=2x3x1031;b=2x2x1031;ids=2x2",
    "a=8x32x32;b=16x2x32;ids=16x2",
    "a=4x5x17;b=3x1x17;ids=3x2;fill=wide",
)
LAID = [
    "a=4x3x5;b=3x2x5;ids=3x2;layout=cropped",
    "a=1x1x1;b=3x2x1;ids=3x2;layout=a:offset",
    "a=2x3x1;b=1x1x1;ids=1x1;layout=b:offset,ids:offset",
]
ALIGNED = aligned(
    "a=4x64x64;b=16x2x64;ids=16x2",
    "a=8x64x64;b=16x2x64;ids=16x2",
    "a=4x64x128;b=32x1x128;ids=32x1",
    "a=2x128x64;b=16x1x64;ids=16x2",
    "a=4x64x64;b=64x1x64;ids=64x1",
    "a=4x64x64;b=16x4x64;ids=16x4",
    "a=3x64x128;b=16x2x128;ids=16x2",
    "a=8x32x32;b=16x2x32;ids=16x2",
    "a=4x24x104;b=16x2x104;ids=16x2;f32",
)
LONG, LONGEST = lengths(
    "a={n}x1x2;b=3x2x2;ids=3x2",
    "a=2x{n}x2;b=3x1x2;ids=3x1",
    "!a=2x1x{n};b=3x1x{n};ids=3x1",
    "a=3x2x2;b={n}x1x2;ids={n}x1",
    "a=3x2x2;b=1x{n}x2;ids=1x{n}",
)
FULL = [
    "a=4x3x12289;b=2x2x12289;ids=2x2",
    "a=8x2x3;b=65537x1x3;ids=65537x2",
]
WITHOUT = {**PRODUCTS, "far rows": "no layer has thousands of experts"}
SHAPES = of_one_row("a=2x{n}x{k};b=1x1x{k};ids=1x2")
