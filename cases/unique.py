"""Cases of unique: many equal elements, none equal, more places than values and fewer, every layout."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["x=7x33;size=40;fill=ties"]
STANDARD = [
    "x=7x33;size=231",
    "x=7x33;size=3;fill=ties",
    "x=66,;size=70;fill=halves;fill_value=-3.0",
    "x=5x31;size=160;fill=wide;layout=transposed",
    "x=2x3x5;size=30;fill=ties;layout=permuted",
    "x=4x17;size=68;fill=halves;layout=sliced",
    "x=4x16;size=64;fill=ties;layout=gapped",
    "x=5x13;size=65;layout=broadcast",
    "x=3x32;size=100;fill=ties;layout=offset",
    "x=9,;size=9;fill=signs",
    "x=2x3x2x5x3x4;size=700;fill=ties;f32;layout=permuted",
    "x=9x9;size=81;fill=exact",
    "x=9x9;size=81;fill=negative",
    "x=9x9;size=81;fill=extreme",
    "x=9x9;size=81;fill=small",
    "x=9x9;size=81;fill=zeros",
    "x=9x9;size=81;fill=constant",
    "x=5x1031;size=5200;fill=ties",
    "x=3x4099;size=257;fill=halves",
    "x=1031x5;size=5155;f32",
    "x=0x3;size=4",
]
LAID = ["x=2x3x5x9;size=270;fill=ties;layout=cropped", "x=2x2;size=4;fill=ties;layout=offset"]
ALIGNED = aligned(
    "x=16x64;size=64;fill=ties",
    "x=64x128;size=8192",
    "x=32x128;size=128;fill=ties",
    "x=16x256;size=64;fill=halves",
    "x=2x16x64;size=2048",
    "x=48x64;size=64;fill=ties",
    "x=16x16;size=256",
)
LONG, LONGEST = lengths("x={n}x2;size=300;fill=ties", "x=2x{n};size=300;fill=ties")
SHAPES = ["x=2x65539;size=131079;f32"]
FULL = ["x=2x12289;size=24578", "x=65537x3;size=7;fill=ties"]
WITHOUT = {
    "NaN, inf": "several NaN are one value to some libraries, and several to others",
    "special rows": "several NaN are one value to some libraries, and several to others",
}
