"""Cases of nll_loss: every reduction, weights, an ignored class, spatial axes, no batch."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["x=7x33;target=7,"]
STANDARD = [
    "x=9x4;target=9,;ignore_index=2;reduction=sum;fill=masked",
    "x=9x4;target=9,;weight=4,;reduction=none;fill=masked",
    "x=9x4;target=9,;ignore_index=2;reduction=sum;fill=masked-special",
    "x=9x4;target=9,;weight=4,;reduction=none;fill=masked-special",
    "x=25x7;target=25,;reduction=none;fill=special-rows",
    "x=9x5;target=9,;reduction=none",
    "x=5,;target=0d",
    "x=5,;target=0d;weight=5,;reduction=sum",
    "x=5x31;target=5,;reduction=sum;fill=wide",
    "x=6x32;target=6,;weight=32,;layout=offset",
    "x=6x3;target=6,;weight=3,;ignore_index=1",
    "x=9x4;target=9,;ignore_index=2;reduction=none;layout=x:transposed",
    "x=9x4;target=9,;ignore_index=0;reduction=sum",
    "x=2x5x7;target=2x7;reduction=none",
    "x=2x5x7;target=2x7;weight=5,;layout=x:transposed",
    "x=2x3x4x7;target=2x4x7;layout=permuted",
    "x=2x3x4x7;target=2x4x7;weight=3,;ignore_index=1;reduction=mean",
    "x=3x5x65;target=3x65;weight=5,;reduction=sum;layout=gapped",
    "x=7x63;target=7,;layout=x:broadcast;reduction=none",
    "x=4x127;target=4,;fill=extreme;reduction=none",
    "x=33x3;target=33,;weight=3,;layout=sliced",
    "x=8x12;target=8,;fill=negative",
    "x=4x13;target=4,;fill=small;reduction=sum",
    "x=130x10;target=130,;weight=10,",
    "x=1x7;target=1,;weight=7,",
    "x=3x1031;target=3,;f32",
    "x=6x7;target=6,;weight=7,;fill=zeros;reduction=sum",
    "x=33x9;target=33,;weight=9,;fill=brink",
    "x=4099x3;target=4099,;reduction=sum;fill=negative;f16,bf16",
    "x=4099x3;target=4099,;weight=3,;fill=negative;f16,bf16",
    "x=0x5;target=0,;reduction=sum",
    "x=7x33;target=7,;layout=target:broadcast",
    "x=2x5x7;target=2x7;reduction=none;layout=target:transposed",
    "x=1037x3;target=1037,;reduction=none",
    "x=1031x3;target=1031,;weight=3,;reduction=none;f16,bf16",
    "x=37x5;target=37,;weight=5,;reduction=none;layout=sliced",
    "x=65x3;target=65,;reduction=none;fill=special",
    "x=9x9;target=9,;weight=9,",
]
LAID = [
    "x=2x5x3x4;target=2x3x4;reduction=none;layout=cropped",
    "x=5,;target=0d;reduction=sum;layout=target:offset",
    "x=4x1;target=4,;weight=1,;reduction=sum;layout=weight:offset",
]
ALIGNED = aligned(
    "x=16x64;target=16,;reduction=sum",
    "x=64x128;target=64,;weight=128,;reduction=none",
    "x=32x128;target=32,;reduction=none",
    "x=16x256;target=16,;reduction=sum",
    "x=48x64;target=48,;reduction=none",
    "x=16x64;target=16,;ignore_index=1;reduction=sum",
    "x=2x64x16;target=2x16;reduction=sum",
    "x=16x1024;target=16,;reduction=sum;f16,f32",
    "x=16x4096;target=16,;reduction=sum;f16,bf16",
)
LONG, LONGEST = lengths(
    "!x={n}x3;target={n},;weight=3,;reduction=sum",
    "x={n}x2x1;target={n}x1;reduction=sum",
    "x=2x{n};target=2,;weight={n},;reduction=sum",
    dtype="f32",
)
SHAPES = [
    "x=5x1031;target=5,;weight=1031,;f32",
    "x=1031x67;target=1031,;f32",
    "x=7x2;target=7,;reduction=none",
    "x=3x1031;target=3,;weight=1031,;reduction=none",
    # a class that is ignored: one of the classes, without weights, and a place before them
    "x=9x4;target=9,;ignore_index=2",
    "x=9x4;target=9,;ignore_index=-1",
    "x=2x5x7;target=2x7;weight=5,;ignore_index=-1;reduction=none",
]
FULL = ["x=2x12289;target=2,;reduction=none", "x=65537x3;target=65537,;reduction=sum"]
WITHOUT = {"growing": "weights of classes have no gradient"}
