"""Cases of rfftn: two axes and three, neighbours and not, in either order; even and odd lengths, each scaling."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import long_dim
from opproof.cases._rows.reasons import SPECTRA
from opproof.cases._rows.shapes import wide_dim

SMOKE = ["x=3x8;dim=(0,1)", "x=3x7;dim=(-2,-1)"]
STANDARD = [
    "x=5x31;dim=(0,1);norm=ortho;layout=transposed",
    "x=2x9x33;dim=(0,1);norm=forward",
    "x=2x3x65;dim=(0,2);layout=permuted",
    "x=4x3x16;dim=(2,1);norm=ortho;layout=sliced",
    "x=4x3x5;dim=(0,1,2);layout=transposed",
    "x=3x96;dim=(0,1);layout=gapped",
    "x=3x97;dim=(1,0);layout=offset",
    "x=5x12;dim=0;layout=broadcast",
    "x=3x128;dim=(0,1);fill=wide",
    "x=3x30;dim=(0,1);fill=offset",
    "x=4x16;dim=(0,1);fill=negative",
    "x=4x16;dim=(0,1);fill=small;f32,bf16",
    "x=4x12;dim=(0,1);fill=zeros",
    "x=3x1;dim=(0,1)",
    "x=0x4x3;dim=(1,2)",
    "x=9,;dim=0",
    "x=3x4x5;dim=None",
    "x=2x1031;dim=(0,1);f16,bf16",
    "x=2x4099;dim=(0,1);f32",
    "x=2x3x2x5x3x4;dim=(1,3);f32;layout=permuted",
    "x=2x600;dim=(0,1);norm=forward;f32,bf16",
    "x=2x600;dim=(0,1);norm=ortho;f32,bf16",
]
LAID = ["x=3x5x9;dim=(1,2);layout=cropped", "x=2x3x9x5;dim=(0,1);layout=cropped"]
ALIGNED = aligned(
    "x=16x64;dim=(0,1)",
    "x=32x128;dim=(0,1)",
    "x=16x256;dim=1;norm=ortho",
    "x=16x512;dim=(0,1)",
    "x=64x16;dim=0",
    "x=2x16x32;dim=(1,2)",
    "x=16x48;dim=(1,0)",
)
LONG, LONGEST = long_dim(halves=())  # some libraries transform so odd a length number by number
LONG += ["x=65537x2;dim=(0,1);f32"]
SHAPES = [
    *wide_dim(),
    "x=1031x5;dim=(0,1);f32",
]
FULL = ["x=2x12289;dim=(0,1);f32", "x=65537x3;dim=(0,1)"]
WITHOUT = SPECTRA
