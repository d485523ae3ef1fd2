"""Cases of irfft: each axis, even and odd lengths, too few and too many numbers, each scaling."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import SPECTRA

SMOKE = ["re=3x5;im=3x5", "re=3x4;im=3x4;n=7"]
STANDARD = [
    "re=5x16;im=5x16;n=31;norm=ortho;layout=re:transposed",
    "re=9x33;im=9x33;dim=0;norm=forward;layout=im:transposed",
    "re=2x3x65;im=2x3x65;dim=1;layout=permuted",
    "re=4x3x9;im=4x3x9;norm=ortho;layout=transposed",
    "re=3x49;im=3x49;norm=forward;layout=re:sliced",
    "re=3x49;im=3x49;n=97;layout=im:sliced",
    "re=5x32;im=5x32;n=63;layout=gapped",
    "re=4x33;im=4x33;layout=offset",
    "re=5x12;im=5x12;layout=re:broadcast",
    "re=5x12;im=5x12;layout=im:broadcast;dim=0",
    "re=3x9;im=3x9;n=30",
    "re=3x9;im=3x9;n=31",
    "re=3x9;im=3x9;n=10",
    "re=3x9;im=3x9;n=9",
    "re=9x3;im=9x3;n=1;dim=0",
    "re=3x5;im=3x5;n=2",
    "re=3x65;im=3x65;fill=wide",
    "re=3x16;im=3x16;fill=offset",
    "re=4x9;im=4x9;fill=negative",
    "re=4x9;im=4x9;fill=small;f32,bf16",
    "re=4x7;im=4x7;fill=zeros",
    "re=4x7;im=4x7;needs=re",
    "re=4x7;im=4x7;needs=im;n=13",
    "re=3x1;im=3x1;n=1",
    "re=3x1;im=3x1;n=5",
    "re=0x4;im=0x4",
    "re=9,;im=9,",
    "re=2x516;im=2x516;n=1031;f16,bf16",
    "re=2x2050;im=2x2050;n=4099;f32",
    "re=2x3x2x5x3x4;im=2x3x2x5x3x4;dim=3;f32;layout=permuted",
    "re=2x600;im=2x600;norm=forward;f32,bf16",
    "re=2x600;im=2x600;norm=ortho;f32,bf16",
]
LAID = ["re=2x3x5;im=2x3x5;layout=cropped", "re=4x3x5;im=4x3x5;dim=0;layout=cropped"]
ALIGNED = aligned(
    "re=16x64;im=16x64",
    "re=32x128;im=32x128;n=128",
    "re=16x256;im=16x256;norm=ortho",
    "re=16x512;im=16x512;n=1024",
    "re=64x16;im=64x16;dim=0",
    "re=2x16x32;im=2x16x32;n=64",
    "re=16x48;im=16x48",
)
LONG, LONGEST = lengths("re={n}x2;im={n}x2", "re=1x{n};im=1x{n}")
SHAPES = [
    "re=1031x67;im=1031x67;f32",
    "re=3x1031x5;im=3x1031x5;dim=-2;f32",
]
FULL = ["re=2x12289;im=2x12289;f32", "re=65537x3;im=65537x3"]
WITHOUT = SPECTRA
