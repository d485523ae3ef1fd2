"""Cases of max_unpool2d: planes of all sizes, places at both ends, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["x=2x3x4x5;indices=2x3x4x5;output_size=(8,10)"]
STANDARD = [
    "x=2x3x3x4;indices=2x3x3x4;output_size=(7,9)",
    "x=2x3x4x3;indices=2x3x4x3;output_size=(4,3)",
    "x=1x1x1x1;indices=1x1x1x1;output_size=(3,5)",
    "x=2x3x4x5;indices=2x3x4x5;output_size=(9,11);layout=x:transposed",
    "x=2x3x4x5;indices=2x3x4x5;output_size=(9,11);layout=indices:transposed",
    "x=2x3x4x5;indices=2x3x4x5;output_size=(8,11);layout=permuted",
    "x=2x3x4x5;indices=2x3x4x5;output_size=(8,11);layout=sliced",
    "x=2x3x4x5;indices=2x3x4x5;output_size=(8,11);layout=gapped",
    "x=2x3x4x8;indices=2x3x4x8;output_size=(8,16);layout=offset",
    "x=2x3x4x5;indices=2x3x4x5;output_size=(8,11);layout=x:broadcast",
    "x=2x3x4x5;indices=2x3x4x5;output_size=(8,11);layout=x:sliced,indices:gapped",
    "x=2x33x3x4;indices=2x33x3x4;output_size=(6,8);fill=wide",
    "x=2x5x3x4;indices=2x5x3x4;output_size=(6,8);fill=special",
    "x=2x5x3x4;indices=2x5x3x4;output_size=(6,8);fill=extreme",
    "x=2x5x3x4;indices=2x5x3x4;output_size=(6,8);fill=small",
    "x=2x5x3x4;indices=2x5x3x4;output_size=(6,8);fill=negative",
    "x=2x5x3x4;indices=2x5x3x4;output_size=(6,8);fill=exact",
    "x=2x5x3x4;indices=2x5x3x4;output_size=(6,8);fill=zeros",
    "x=0x3x2x2;indices=0x3x2x2;output_size=(4,4)",
    "x=1x2x17x33;indices=1x2x17x33;output_size=(34,66)",
    "x=1x2x5x65;indices=1x2x5x65;output_size=(65,10)",
    "x=1x1x2x1031;indices=1x1x2x1031;output_size=(2,2062)",
    "x=1x1x1x4099;indices=1x1x1x4099;output_size=(2,4099)",
]
LAID = ["x=2x3x4x5;indices=2x3x4x5;output_size=(6,6);layout=cropped"]
ALIGNED = aligned(
    "x=1x16x16x16;indices=1x16x16x16;output_size=(32,32)",
    "x=2x16x16x16;indices=2x16x16x16;output_size=(16,32)",
    "x=1x32x16x32;indices=1x32x16x32;output_size=(32,64)",
)
LONG, LONGEST = lengths(
    "x={n}x1x1x2;indices={n}x1x1x2;output_size=(2,3)",
    "x=1x{n}x2x1;indices=1x{n}x2x1;output_size=(2,2)",
    "x=1x1x{n}x1;indices=1x1x{n}x1;output_size=({n},2)",
    "x=1x1x1x{n};indices=1x1x1x{n};output_size=(1,{n})",
)
FULL = ["x=1x2x129x65;indices=1x2x129x65;output_size=(258,130)"]
