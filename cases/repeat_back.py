"""Cases of repeat_back: each axis repeated in turn, several, none, tiles of one."""

from opproof.cases._rows.long import lengths

SMOKE = ["grad=6x33;shape=(2,11)"]
STANDARD = [
    "grad=9,;shape=(3)",
    "grad=12x31;shape=(4,31);fill=wide",
    "grad=3x64;shape=(3,32);layout=transposed",
    "grad=5x33;shape=(1,33);layout=offset",
    "grad=5x63;shape=(5,1);layout=sliced",
    "grad=4x6x10;shape=(2,3,5);layout=permuted",
    "grad=2x6x4x9;shape=(2,2,4,3);layout=permuted",
    "grad=2x3x4x130;shape=(1,3,2,65);layout=gapped",
    "grad=6x8x3;shape=(6,2,3);layout=broadcast",
    "grad=4x6x10;shape=(2,2,5);f32",
    "grad=3x4x6;shape=(3,1,1)",
    "grad=4x9x2;shape=(4,3,1);fill=exact",
    "grad=9x8;shape=(3,2);fill=signs;layout=transposed",
    "grad=6x15;shape=(2,5);fill=extreme",
    "grad=6x15;shape=(2,3);fill=small",
    "grad=6x15;shape=(3,5);fill=zeros",
    "grad=6x15;shape=(3,5);fill=offset",
    "grad=1x7;shape=(1,1)",
    "grad=0x6;shape=(0,3)",
    "grad=257x4;shape=(1,2)",
    "grad=2x2062;shape=(1,1031)",
    "grad=4099x6;shape=(1,3);f16,bf16",
    "grad=6x15;shape=(2,5);fill=special",
]
LAID = ["grad=2x6x4;shape=(2,3,4);layout=cropped", "grad=3x1x4;shape=(3,1,4);layout=transposed"]
LONG, LONGEST = lengths(
    "grad={n}x4;shape=({n},2)", "grad=4x{n};shape=(2,{n})", "grad={n}x2;shape=(1,2)", "grad=2x{n};shape=(2,1)"
)
FULL = ["grad=2x24578;shape=(2,12289)", "grad=65537x4;shape=(65537,2)"]
SHAPES = [
    "grad=65x9;shape=(1,3);fill=spread;f32",
]
