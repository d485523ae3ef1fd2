"""Cases of upsample_nearest: larger and smaller, by whole and broken factors, one cell."""

from opproof.cases._rows.upsamples import aligned_resized, laid_resized, long_resized, whole_resized

SMOKE = [
    "x=2x3x4x5;size=(7,9)",
]
STANDARD = [
    *whole_resized(),
    "x=2x3x6x12;size=(3,4)",
    "x=1x1x3x2;size=(123,98)",
    "x=1x1x1x1;size=(2,3)",
    "x=2x3x4x5;size=(8,10);layout=transposed",
    "x=2x3x4x5;size=(8,10);layout=offset",
    "x=2x3x5x4;size=(7,9);layout=permuted",
    "x=2x3x5x4;size=(7,9);layout=transposed",
    "x=2x3x9x7;size=(4,5);layout=sliced",
    "x=2x3x9x7;size=(4,5);layout=gapped",
    "x=2x3x5x6;size=(3,11);layout=gapped",
    "x=2x3x6x5;size=(11,3);layout=sliced",
    "x=3x4x5x3;size=(4,7);layout=broadcast",
    "x=2x3x5x4;size=(1,1)",
    "x=2x3x5x4;size=(1,6)",
    "x=2x3x1x4;size=(3,7)",
    "x=2x3x4x1;size=(3,5)",
    "x=2x3x4x5;size=(6,13);fill=wide",
    "x=2x3x4x5;size=(9,7);fill=offset",
    "x=2x3x4x5;size=(7,8);fill=extreme",
    "x=2x3x4x5;size=(7,8);fill=zeros",
    "x=2x3x4x5;size=(7,8);fill=negative",
    "x=2x33x3x4;size=(5,7)",
    "x=1x2x9x17;size=(16,31)",
    "x=2x3x3x2;size=(6,4);fill=exact",
    "x=2x3x4x5;size=(8,7);fill=signs;layout=transposed",
    "x=2x3x4x5;size=(5,7);fill=special",
    "x=2x3x6x33;size=(9,65)",
    "x=0x2x3x4;size=(5,7)",
    "x=1x2x5x97;size=(3,130)",
]
LAID = laid_resized()
ALIGNED = aligned_resized()
LONG, LONGEST = long_resized()
FULL = [
    "x=1x2x33x65;size=(129,97)",
    "x=65537x1x2x2;size=(3,3)",
]
SHAPES = [
    "x=1x2x3x2;size=(33,18);fill=spread;f32",
]
