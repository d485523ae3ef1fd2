"""Cases of rfft: each axis, lengths of powers of two, odd and prime, each scaling."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.laid import laid_dim
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reasons import SPECTRA
from opproof.cases._rows.shapes import wide_dim

SMOKE = ["x=3x8", "x=3x7"]
STANDARD = [
    "x=5x31;norm=ortho;layout=transposed",
    "x=9x33;dim=0;norm=forward",
    "x=2x3x65;dim=1;layout=permuted",
    "x=4x3x16;norm=ortho;layout=sliced",
    "x=3x96;layout=gapped",
    "x=3x97;layout=offset",
    "x=5x12;dim=0;layout=broadcast",
    "x=3x128;fill=wide",
    "x=3x30;fill=offset",
    "x=4x16;fill=negative",
    "x=4x16;fill=small;f32,bf16",
    "x=4x12;fill=zeros",
    "x=3x1",
    "x=0x4",
    "x=9,",
    "x=2x1031;f16,bf16",
    "x=2x4099;f32",
    "x=2x3x2x5x3x4;dim=3;f32;layout=permuted",
    "x=2x600;norm=forward;f32,bf16",
    "x=2x600;norm=ortho;f32,bf16",
]
LAID = laid_dim()[:2]
ALIGNED = aligned("x=16x64", "x=32x128", "x=16x256;norm=ortho", "x=16x512", "x=64x16;dim=0", "x=2x16x32", "x=16x48")
LONG, LONGEST = long_dim(halves=())  # some libraries transform so odd a length number by number
SHAPES = [
    *wide_dim(),
]
FULL = ["x=2x12289;f32", "x=65537x3"]
WITHOUT = SPECTRA
