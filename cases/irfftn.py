"""Cases of irfftn: two axes and three, in either order; even and odd lengths, too few and too many numbers."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import SPECTRA

SMOKE = ["re=3x5;im=3x5;dim=(0,1)", "re=3x4;im=3x4;dim=(-2,-1);n=7"]
STANDARD = [
    "re=5x16;im=5x16;dim=(0,1);n=31;norm=ortho;layout=re:transposed",
    "re=2x9x33;im=2x9x33;dim=(0,1);norm=forward;layout=im:transposed",
    "re=2x3x65;im=2x3x65;dim=(0,2);layout=permuted",
    "re=4x3x9;im=4x3x9;dim=(2,1);norm=ortho;layout=transposed",
    "re=3x49;im=3x49;dim=(0,1);norm=forward;layout=re:sliced",
    "re=3x49;im=3x49;dim=(0,1);n=97;layout=im:sliced",
    "re=4x3x5;im=4x3x5;dim=(0,1,2);layout=im:sliced",
    "re=5x32;im=5x32;dim=(1,0);n=9;layout=gapped",
    "re=4x33;im=4x33;dim=(0,1);layout=offset",
    "re=5x12;im=5x12;dim=(0,1);layout=re:broadcast",
    "re=5x12;im=5x12;dim=0;layout=im:broadcast",
    "re=3x9;im=3x9;dim=(0,1);n=31",
    "re=3x9;im=3x9;dim=(0,1);n=10",
    "re=3x65;im=3x65;dim=(0,1);fill=wide",
    "re=3x16;im=3x16;dim=(0,1);fill=offset",
    "re=4x9;im=4x9;dim=(0,1);fill=negative",
    "re=4x9;im=4x9;dim=(0,1);fill=small;f32,bf16",
    "re=4x7;im=4x7;dim=(0,1);fill=zeros",
    "re=4x7;im=4x7;dim=(0,1);needs=re",
    "re=4x7;im=4x7;dim=(0,1);needs=im;n=13",
    "re=3x1;im=3x1;dim=(0,1);n=1",
    "re=0x4x3;im=0x4x3;dim=(1,2)",
    "re=9,;im=9,;dim=0",
    "re=3x4x5;im=3x4x5;dim=None",
    "re=2x516;im=2x516;dim=(0,1);n=1031;f16,bf16",
    "re=2x2050;im=2x2050;dim=(0,1);n=4099;f32",
    "re=2x3x2x5x3x4;im=2x3x2x5x3x4;dim=(1,3);f32;layout=permuted",
    "re=2x600;im=2x600;dim=(0,1);norm=forward;f32,bf16",
    "re=2x600;im=2x600;dim=(0,1);norm=ortho;f32,bf16",
]
LAID = ["re=2x3x5;im=2x3x5;dim=(1,2);layout=cropped", "re=4x3x5;im=4x3x5;dim=(0,1);layout=cropped"]
ALIGNED = aligned(
    "re=16x64;im=16x64;dim=(0,1)",
    "re=32x128;im=32x128;dim=(0,1);n=128",
    "re=16x256;im=16x256;dim=1;norm=ortho",
    "re=16x512;im=16x512;dim=(0,1)",
    "re=64x16;im=64x16;dim=0",
    "re=2x16x32;im=2x16x32;dim=(1,2);n=64",
    "re=16x48;im=16x48;dim=(1,0)",
)
LONG, LONGEST = lengths("re={n}x2;im={n}x2;dim=(0,1)", "re=1x{n};im=1x{n};dim=(0,1)")
SHAPES = [
    "re=1031x67;im=1031x67;dim=1;f32",
    "re=1031x5;im=1031x5;dim=(0,1);f32",
]
FULL = ["re=2x12289;im=2x12289;dim=(0,1);f32", "re=65537x3;im=65537x3;dim=(0,1)"]
WITHOUT = SPECTRA
