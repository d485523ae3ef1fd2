"""Cases of grid_sample: each mode, each edge, both alignments, places inside and far outside, unlike axes."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths

_PADDINGS = ("zeros", "border", "reflection")

SMOKE = ["x=2x3x5x7;grid=2x4x3x2"]
STANDARD = [
    "x=2x3x5x7;grid=2x4x3x2;align_corners=true;padding_mode=border;fill=extreme;f32",
    "x=2x3x5x7;grid=2x4x3x2;fill=extreme;f32",
    "x=2x3x5x7;grid=2x4x3x2;align_corners=true;padding_mode=border;layout=x:transposed",
    "x=2x3x7x5;grid=2x3x4x2;padding_mode=reflection;layout=grid:transposed",
    "x=2x3x7x5;grid=2x3x4x2;padding_mode=reflection;align_corners=true;layout=permuted",
    "x=2x3x5x7;grid=2x4x3x2;mode=nearest;layout=x:sliced",
    "x=2x3x5x7;grid=2x4x3x2;mode=nearest;padding_mode=border;align_corners=true;layout=grid:sliced",
    "x=2x3x7x5;grid=2x4x3x2;mode=nearest;padding_mode=reflection",
    "x=1x3x6x9;grid=1x31x5x2;layout=gapped",
    "x=1x3x9x6;grid=1x5x33x2;padding_mode=border;layout=offset",
    "x=2x3x5x7;grid=2x4x3x2;layout=x:broadcast",
    "x=2x3x5x7;grid=2x4x3x2;layout=grid:broadcast",
    "x=2x3x5x7;grid=2x4x3x2;fill=small;f32,f16",
    "x=2x3x6x8;grid=2x9x7x2;fill=zeros",
    "x=2x3x6x8;grid=2x4x3x2;fill=extreme;padding_mode=border;f32",
    "x=2x3x5x7;grid=2x4x3x2;needs=x",
    "x=2x3x5x7;grid=2x4x3x2;needs=grid",
    "x=1x65x3x4;grid=1x3x2x2",
    "x=1x2x3x97;grid=1x3x9x2;padding_mode=border",
    "x=1x1x1x1;grid=1x1x1x2",
    "x=0x2x3x3;grid=0x2x2x2",
    # Places on the very edge, where the cell behind the last one has the weight 0 and does not exist.
    *(f"x=2x3x5x7;grid=2x4x3x2;align_corners=true;padding_mode={p};fill=signs;needs=x" for p in _PADDINGS),
    "x=1x1x2x2;grid=1x1x1031x2;f16,bf16",
    "x=1x1x2x2;grid=1x1x4099x2;f32",
]
LAID = [
    "x=2x3x5x7;grid=2x4x3x2;layout=cropped",
    "x=1x1x1x1;grid=1x2x3x2;layout=x:offset",
]
ALIGNED = aligned(
    "x=1x16x16x16;grid=1x16x16x2",
    "x=1x4x32x32;grid=1x16x16x2;padding_mode=border",
    "x=2x16x16x16;grid=2x16x16x2;padding_mode=reflection",
)
LONG, LONGEST = lengths(
    "x={n}x1x2x2;grid={n}x1x1x2",
    "x=1x{n}x2x2;grid=1x1x2x2;padding_mode=border",
    "x=1x1x{n}x2;grid=1x1x3x2;padding_mode=border",
    "!x=1x1x2x{n};grid=1x1x3x2;padding_mode=border",
    "x=1x1x2x2;grid=1x{n}x1x2",
    "x=1x1x2x2;grid=1x1x{n}x2",
)
FULL = ["x=1x3x65x129;grid=1x33x65x2"]
SHORT = {"grid.3": Limit(0, "a grid holds pairs of places")}
WITHOUT = {
    "aligned": "a grid holds pairs of places, and no tile covers them",
    "aligned, often": "a grid holds pairs of places, and no tile covers them",
    "NaN, inf": "where a place that is NaN lies is no rule that libraries share",
}
