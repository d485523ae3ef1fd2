"""Cases of get_rows_back: rows named often, out of order and never."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["grad=5x33;indices=5,;num_rows=7"]
STANDARD = [
    "grad=4x9;indices=4,;num_rows=1",
    "grad=9x5;indices=9,;num_rows=2;fill=wide",
    "grad=3x4x31;indices=3x4;num_rows=5",
    "grad=7x32;indices=7,;num_rows=9;layout=offset",
    "grad=7x33;indices=7,;num_rows=6;layout=grad:transposed",
    "grad=3x5x65;indices=3x5;num_rows=6;layout=indices:transposed",
    "grad=2x3x4x9;indices=2x3x4;num_rows=7;layout=permuted",
    "grad=9x63;indices=9,;num_rows=8;layout=sliced",
    "grad=9x64;indices=9,;num_rows=8;layout=gapped",
    "grad=6x9;indices=6,;num_rows=4;layout=grad:broadcast",
    "grad=13x9;indices=13,;num_rows=6;layout=indices:sliced",
    "grad=5x4;indices=5,;num_rows=33;fill=zeros",
    "grad=65x7;indices=65,;num_rows=3;fill=exact",
    "grad=31x9;indices=31,;num_rows=4;fill=signs;layout=grad:transposed",
    "grad=8x127;indices=8,;num_rows=5;fill=extreme",
    "grad=33x1;indices=33,;num_rows=9",
    "grad=0x4;indices=0,;num_rows=6",
    "grad=130x3;indices=130,;num_rows=257",
    "grad=257x2;indices=257,;num_rows=2",
    "grad=5x1031;indices=5,;num_rows=3",
    "grad=5x33;indices=5,;num_rows=7;layout=indices:broadcast",
    "grad=3x4x31;indices=3x4;num_rows=5;layout=indices:gapped",
    "grad=4099x3;indices=4099,;num_rows=2;f16,bf16",
    "grad=66x17;indices=66,;num_rows=4099",
]
LAID = [
    "grad=2x3x4;indices=2x3;num_rows=5;layout=cropped",
    "grad=2x3x4x5;indices=2x3x4;num_rows=5;layout=cropped",
    "grad=1x5;indices=1,;num_rows=3;layout=indices:offset",
    "grad=1x1;indices=1,;num_rows=3;layout=grad:offset",
]
ALIGNED = aligned(
    "grad=16x64;indices=16,;num_rows=16",
    "grad=32x128;indices=32,;num_rows=16",
    "grad=16x64;indices=16,;num_rows=32",
    "grad=16x256;indices=16,;num_rows=64",
    "grad=2x16x64;indices=2x16;num_rows=16",
    "grad=48x64;indices=48,;num_rows=32",
    "grad=2x16x32;indices=2x16;num_rows=16",
    "grad=64x128;indices=64,;num_rows=16",
)
LONG, LONGEST = lengths(
    "grad={n}x1x2;indices={n}x1;num_rows=3",
    "!grad=2x{n};indices=2,;num_rows=3",
    "!grad=3x2;indices=3,;num_rows={n}",
    "grad={n}x2;indices={n},;num_rows=3",
)
SHAPES = [
    "grad=65x7;indices=65,;num_rows=3;fill=spread;f32",
    # rows past 65535, which a grid of 16 bits has none for
    "grad=17x2;indices=17,;num_rows=70001;f32",
]
FULL = ["grad=3x12289;indices=3,;num_rows=4", "grad=65537x3;indices=65537,;num_rows=300"]
WITHOUT = {"NaN, inf": "as a product with one-hot rows it multiplies zeros by infinity"}
