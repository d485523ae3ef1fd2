"""Cases of fft: each axis, lengths of powers of two, odd and prime, both ways, each scaling."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import SPECTRA

SMOKE = ["re=3x8;im=3x8", "re=3x7;im=3x7;inverse=true"]
STANDARD = [
    "re=5x31;im=5x31;norm=ortho;layout=re:transposed",
    "re=9x33;im=9x33;dim=0;norm=forward;layout=im:transposed",
    "re=2x3x65;im=2x3x65;dim=1;layout=permuted",
    "re=4x3x16;im=4x3x16;inverse=true;norm=ortho;layout=transposed",
    "re=3x96;im=3x96;inverse=true;norm=forward;layout=re:sliced",
    "re=3x97;im=3x97;layout=im:sliced",
    "re=5x63;im=5x63;layout=gapped",
    "re=4x64;im=4x64;layout=offset",
    "re=5x12;im=5x12;layout=re:broadcast",
    "re=5x12;im=5x12;layout=im:broadcast;dim=0",
    "re=3x128;im=3x128;fill=wide",
    "re=3x30;im=3x30;fill=offset",
    "re=4x16;im=4x16;fill=negative",
    "re=4x16;im=4x16;fill=small;f32,bf16",
    "re=4x12;im=4x12;fill=zeros",
    "re=4x12;im=4x12;needs=re",
    "re=4x12;im=4x12;needs=im;inverse=true",
    "re=3x1;im=3x1",
    "re=0x4;im=0x4",
    "re=9,;im=9,",
    "re=2x1031;im=2x1031;f16,bf16",
    "re=2x4099;im=2x4099;f32",
    "re=2x600;im=2x600;norm=forward;f32,bf16",
    "re=2x600;im=2x600;norm=ortho;f32,bf16",
]
LAID = ["re=2x3x5;im=2x3x5;layout=cropped", "re=4x3x5;im=4x3x5;dim=0;layout=cropped"]
ALIGNED = aligned(
    "re=16x64;im=16x64",
    "re=32x128;im=32x128;inverse=true",
    "re=16x256;im=16x256;norm=ortho",
    "re=16x512;im=16x512",
    "re=64x16;im=64x16;dim=0",
    "re=2x16x32;im=2x16x32",
    "re=16x48;im=16x48",
)
LONG, LONGEST = lengths("re={n}x2;im={n}x2", "re=1x{n};im=1x{n}")
SHAPES = [
    "re=1031x67;im=1031x67;f32",
]
FULL = ["re=2x12289;im=2x12289;f32", "re=65537x3;im=65537x3"]
WITHOUT = SPECTRA
PAIRED = [
    "re=5x3;im=5x3;dim=0;inverse=true;norm=ortho",
]
