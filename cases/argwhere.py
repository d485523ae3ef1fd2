"""Cases of argwhere: more places than elements and fewer, zeros between others, every rank, every layout."""

from opproof.cases._rows.long import lengths

SMOKE = ["x=7x33;size=231;fill=ties"]
STANDARD = [
    "x=7x33;size=20;fill=ties",
    "x=7x33;size=40;fill=zeros",
    "x=66,;size=66;fill=special",
    "x=5x31;size=160;fill=ties;layout=transposed;fill_value=7",
    "x=2x3x5;size=30;fill=halves;layout=permuted",
    "x=4x17;size=68;fill=ties;layout=sliced",
    "x=4x16;size=64;fill=kink;layout=gapped",
    "x=5x13;size=65;fill=ties;layout=broadcast",
    "x=3x32;size=100;fill=ties;layout=offset",
    "x=9,;size=9;fill=signs",
    "x=2x3x2x5x3x4;size=700;fill=ties;f32;layout=permuted",
    "x=9x9;size=81;fill=exact",
    "x=9x9;size=81;fill=negative",
    "x=9x9;size=81;fill=extreme",
    "x=9x9;size=81;fill=small",
    "x=5x1031;size=5000;fill=ties",
    "x=3x4099;size=257;fill=ties",
    "x=1031x5;size=5155;fill=ties;f32",
    "x=0x3;size=4",
]
LAID = ["x=2x3x5x9;size=270;fill=ties;layout=cropped", "x=2x2;size=4;fill=ties;layout=offset"]
LONG, LONGEST = lengths("x={n}x2;size=300;fill=ties", "x=2x{n};size=300;fill=ties")
SHAPES = ["x=2x65539;size=131079;fill=ties;f32", "x=65539x2;size=131079;fill=ties;f32"]
FULL = ["x=2x12289;size=24578;fill=ties", "x=65537x3;size=7;fill=ties"]
