"""Cases of rms_norm: with and without weight, eps that matters, rows past 1024 and 4096."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import NORMS, mixed
from opproof.cases._rows.row import BETWEEN

SMOKE = ["x=7x33", "x=7x33;weight=33,"]
STANDARD = [
    "x=7x33;inplace=x",
    "x=7x33;weight=33,;inplace=x",
    "x=3x2x65;weight=65,;layout=x:transposed;inplace=x",
    "x=9x33;weight=33,;eps=1e-12;fill=small",
    "x=9x65;weight=65,;fill=offset-1e3;f32,f16",
    "x=9x65;weight=65,;fill=offset-1e4;f32",
    "x=9x65;weight=65,;fill=heavy;f16",
    "x=25x7;fill=special-rows",
    "x=9,;fill=wide",
    "x=5x31;weight=31,;eps=0.1",
    "x=3x32;weight=32,;fill=wide;layout=offset",
    "x=2x3x65;weight=65,;layout=x:transposed",
    "x=2x3x4x7;weight=7,;layout=permuted",
    "x=3x33;weight=33,;fill=extreme;layout=sliced",
    "x=4x127;eps=0.001;fill=extreme",
    "x=4x128;weight=128,;layout=gapped",
    "x=5x63;weight=63,;layout=x:broadcast",
    "x=5x64;weight=64,;needs=x",
    "x=5x64;weight=64,;needs=weight;layout=x:transposed",
    "x=3x97;weight=97,;fill=offset",
    "x=33x4;weight=4,;fill=constant",
    "x=2x257;fill=zeros",
    "x=6x11;fill=small",
    "x=4x13;fill=small;eps=0.1",
    "x=4x66;weight=66,;fill=negative",
    "x=33x1;weight=1,",
    "x=0x5;weight=5,",
    "x=3x768;weight=768,",
    "x=130x6;weight=6,",
    "x=2x1031",
    "x=2x4099;weight=4099,;f32",
    "x=65x3;fill=special",
    f"x=9x65;eps={BETWEEN};fill=small;f16,bf16",
    "x=4099x3;weight=3,;fill=growing;f16,bf16",
    "x=9x9;weight=9,",
]
MIXED = mixed(
    "weight",
    NORMS,
    "x=7x33;weight=33,",
    "x=5x64;weight=64,;fill=wide",
    "x=2x3x1031;weight=1031,;layout=x:transposed",
    "x=3x17;weight=17,;eps=0.1;fill=small",
)
LAID = ["x=2x3x5x7;weight=7,;layout=cropped", "x=33x1;weight=1,;layout=weight:offset", "x=1,;eps=0.1;layout=offset"]
ALIGNED = aligned(
    "x=16x64;weight=64,",
    "x=64x128;weight=128,",
    "x=32x128",
    "x=16x256;weight=256,",
    "x=2x16x64;weight=64,",
    "x=48x64",
    "x=2x3x16x32;weight=32,",
    "x=32x64;weight=64,",
    "x=16x1024;weight=1024,;f16,f32",
    "x=16x4096;weight=4096,;f16,bf16",
)
LONG, LONGEST = lengths("x={n}x2;weight=2,", "x=2x{n};weight={n},")
SHAPES = [
    "x=5x257;fill=outliers;f16",
    "x=1031x67;weight=67,;f32",
    # more rows than a block has, each longer than 4096
    "x=17x4099;weight=4099,;f32",
]
FULL = ["x=2x12289", "x=65537x3;weight=3,"]
