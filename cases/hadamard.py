"""Cases of hadamard: rows of every power of two to 4096 and beyond, scales, integers bit for bit."""

from opproof.cases._rows.aligned import aligned_rows
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import BETWEEN

SMOKE = ["x=7x32"]
STANDARD = [
    "x=7x32;scale=0.5;inplace=x",
    "x=3x2x64;layout=transposed;inplace=x",
    "x=4,",
    "x=5x16;fill=wide",
    "x=3x32;layout=offset",
    "x=2x3x64;scale=0.125;layout=transposed",
    "x=2x3x4x8;layout=permuted",
    "x=3x128;layout=sliced",
    "x=4x64;scale=-1.5;layout=gapped",
    "x=5x256;layout=broadcast",
    "x=25x8;fill=special-rows",
    "x=6x16;fill=zeros",
    "x=6x16;scale=0.25;fill=negative",
    "x=5x16;fill=exact",
    "x=3x64;scale=2.0;fill=signs;layout=transposed",
    "x=33x1",
    "x=33x2",
    "x=0x8",
    "x=66x4;fill=special",
    "x=2x2048;f16,bf16",
    "x=2x8192;scale=0.0110485434560398;f32",
    f"x=9x128;scale={8 * BETWEEN};f16,bf16",
]
LAID = ["x=2x3x5x8;layout=cropped", "x=1,;layout=offset"]
ALIGNED = aligned_rows("", "scale=0.125")
LONG, LONGEST = lengths("x={n}x2")
SHAPES = [
    "x=1031x128;f32",
]
SHORT = {"x.last": Limit(0, "rows are a power of two long")}
FULL = ["x=2x16384;f32", "x=65537x4"]
WITHOUT = PRODUCTS
