"""Cases of roi_pool: boxes of every size, scaled, bins that overlap and bins outside of the plane.

Bins are a power of two, so that their ends are exact in float32 too.
"""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths

SMOKE = ["x=2x3x9x7;rois=4x4;index=4,;output_size=(2,4)"]
STANDARD = [
    "x=2x3x9x7;rois=4x4;index=4,;output_size=(4,2)",
    "x=2x3x7x9;rois=5x4;index=5,;output_size=(2,2);layout=x:transposed",
    "x=2x3x7x9;rois=5x4;index=5,;output_size=(2,4);layout=rois:transposed",
    "x=2x3x9x5;rois=5x4;index=5,;output_size=(1,4);spatial_scale=0.25;layout=permuted",
    "x=2x3x9x5;rois=5x4;index=5,;output_size=(4,1);spatial_scale=0.5;layout=x:sliced",
    "x=2x3x9x5;rois=5x4;index=5,;output_size=(2,2);layout=rois:sliced,index:sliced",
    "x=2x5x6x8;rois=3x4;index=3,;output_size=(4,4);layout=gapped",
    "x=2x5x6x8;rois=3x4;index=3,;output_size=(4,4);layout=offset",
    "x=2x5x6x8;rois=3x4;index=3,;output_size=(4,4);layout=x:broadcast",
    "x=2x5x6x8;rois=3x4;index=3,;output_size=(4,4);layout=rois:broadcast",
    "x=2x5x6x8;rois=3x4;index=3,;output_size=(4,4);layout=index:broadcast",
    "x=3x2x31x33;rois=9x4;index=9,;output_size=(8,8)",
    "x=3x2x9x65;rois=9x4;index=9,;output_size=(2,8)",
    "x=2x3x5x33;rois=5x4;index=5,;output_size=(2,32)",
    "x=2x2x39x39;rois=19x4;index=19,;output_size=(2,4)",
    "x=1x97x5x6;rois=2x4;index=2,;output_size=(2,2)",
    "x=2x2x5x6;rois=65x4;index=65,;output_size=(1,2)",
    "x=2x3x6x5;rois=4x4;index=4,;output_size=(2,4);fill=small",
    "x=2x3x6x5;rois=4x4;index=4,;output_size=(2,4);fill=zeros",
    "x=2x3x6x5;rois=4x4;index=4,;output_size=(2,4);fill=extreme",
    "x=2x3x6x5;rois=4x4;index=4,;output_size=(2,4);fill=negative",
    # Steps of a power of two: 4.75 + 1.5 / 6 is the border itself, where float32 reads nothing and float64 a cell.
    "x=2x3x6x5;rois=4x4;index=4,;output_size=(2,4);fill=offset",
    "x=1x1x1x1;rois=1x4;index=1,;output_size=(1,1)",
    "x=2x3x4x4;rois=0x4;index=0,;output_size=(2,2)",
    "x=1x1x4x4;rois=1031x4;index=1031,;output_size=(1,1);f16,bf16",
    "x=1x1x4x4;rois=4099x4;index=4099,;output_size=(1,1);f32",
    "x=1x2x3x4;rois=65x4;index=65,;output_size=(2,2);fill=spread;f32",
]
LAID = [
    "x=2x5x6x8;rois=3x4;index=3,;output_size=(2,2);layout=cropped",
    "x=1x1x1x1;rois=2x4;index=2,;output_size=(1,1);layout=x:offset",
    "x=1x2x4x3;rois=1x4;index=1,;output_size=(1,1);layout=index:offset",
]
ALIGNED = aligned(
    "x=1x16x16x16;rois=16x4;index=16,;output_size=(4,4)",
    "x=2x32x16x16;rois=16x4;index=16,;output_size=(2,2)",
)
LONG, LONGEST = lengths(
    "x={n}x1x2x2;rois=3x4;index=3,;output_size=(1,1)",
    "x=1x{n}x2x2;rois=2x4;index=2,;output_size=(1,1)",
    "x=1x1x{n}x2;rois=2x4;index=2,;output_size=(2,1)",
    "!x=1x1x2x{n};rois=2x4;index=2,;output_size=(1,2)",
)
BOXES = lengths("x=1x1x3x2;rois={n}x4;index={n},;output_size=(1,1)", upto=4099)[0]
LONG += BOXES
FULL = ["x=1x3x65x129;rois=33x4;index=33,;output_size=(8,8)"]
SHORT = {
    "rois.0": Limit(4099, "the reference walks over boxes"),
    "index.0": Limit(4099, "the reference walks over boxes"),
    "rois.1": Limit(0, "a box has four numbers"),
}
WITHOUT = {
    "aligned": "a box has four numbers, and no tile covers them",
    "aligned, often": "a box has four numbers, and no tile covers them",
    "far rows": "no batch has thousands of planes",
    "NaN, inf": "where a box lies that ends at NaN is no rule that libraries share",
}
PAIRED = [
    "x=2x3x9x7;rois=4x4;index=4,;output_size=(4,2);spatial_scale=0.5",
]
