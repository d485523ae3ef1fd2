"""Cases of causal_conv1d: kernels of one to nine, fewer tokens than weights, channels around vector widths."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import KERNEL, lengths
from opproof.cases._rows.reasons import WINDOWS

SMOKE = ["x=2x7x8;weight=7x4;bias=7,", "x=2x5x9;weight=5x3;activation=none"]
STANDARD = [
    "x=2x9x1;weight=9x4",
    "x=2x31x3;weight=31x4;bias=31,;fill=wide",
    "x=3x32x5;weight=32x4;layout=transposed",
    "x=2x33x7;weight=33x4;bias=33,;layout=weight:transposed",
    "x=3x5x9;weight=5x4;bias=5,;layout=permuted",
    "x=2x6x10;weight=6x9;bias=6,;layout=sliced",
    "x=2x63x5;weight=63x2;layout=gapped",
    "x=2x65x5;weight=65x4;bias=65,;layout=offset",
    "x=3x7x9;weight=7x4;layout=x:broadcast",
    "x=2x7x8;weight=7x4;bias=7,;activation=none;layout=weight:broadcast",
    "x=3x7x9;weight=7x4;bias=7,;needs=weight",
    "x=3x7x9;weight=7x4;bias=7,;needs=x",
    "x=2x5x9;weight=5x1;bias=5,",
    "x=2x4x12;weight=4x4;fill=zeros",
    "x=0x4x7;weight=4x4;bias=4,",
    "x=1x2x131;weight=2x4;bias=2,",
    "x=1x2x4099;weight=2x4;activation=none;f16,bf16",
    "x=1x2x4099;weight=2x4;bias=2,;fill=growing;f16,bf16",
]
LAID = [
    "x=2x4x9;weight=4x3;layout=cropped",
    "x=1x1x1;weight=1x1;bias=1,;layout=offset",
    "x=1x1x5;weight=1x1;bias=1,;layout=weight:offset,bias:offset",
]
ALIGNED = aligned(
    "x=2x16x19;weight=16x4;bias=16,",
    "x=2x64x7;weight=64x4",
    "x=2x32x10;weight=32x3;bias=32,",
    "x=1x128x6;weight=128x4",
    "x=3x16x19;weight=16x4;bias=16,",
    "x=2x32x11;weight=32x4",
    "x=2x64x5;weight=64x4;bias=64,",
)
LONG, LONGEST = lengths("x={n}x1x3;weight=1x2", "!x=1x{n}x2;weight={n}x2;bias={n},", "x=1x2x{n};weight=2x3")
LONG += lengths("x=1x1x9;weight=1x{n}", upto=1025)[0]
SHORT = {"weight.1": KERNEL}
FULL = ["x=1x2x12289;weight=2x4", "x=1x65537x4;weight=65537x3;bias=65537,"]
WITHOUT = WINDOWS
