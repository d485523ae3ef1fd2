"""Cases of affine_grid: images and volumes, corners aligned or not, axes of one cell, every layout."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths

_MAP = Limit(0, "a map of the plane is of two rows and three columns")

SMOKE = ["theta=2x2x3;size=(5,7)", "theta=2x3x4;size=(3,4,5);align_corners=true"]
STANDARD = [
    "theta=2x2x3;size=(5,7);align_corners=true",
    "theta=2x3x4;size=(5,4,3)",
    "theta=3x2x3;size=(9,4);layout=transposed",
    "theta=3x2x3;size=(4,9);layout=permuted;align_corners=true",
    "theta=3x2x3;size=(3,2);layout=sliced",
    "theta=3x3x4;size=(2,3,2);layout=gapped",
    "theta=3x2x3;size=(8,16);layout=offset;align_corners=true",
    "theta=3x2x3;size=(7,5);layout=broadcast",
    "theta=1x2x3;size=(1,7)",
    "theta=1x2x3;size=(6,1);align_corners=true",
    "theta=1x3x4;size=(1,1,3)",
    "theta=5x2x3;size=(6,5);fill=wide",
    "theta=5x2x3;size=(6,5);fill=offset",
    "theta=5x2x3;size=(6,5);fill=extreme",
    "theta=5x2x3;size=(6,5);fill=small;f32,bf16",
    "theta=5x2x3;size=(6,5);fill=zeros",
    "theta=5x2x3;size=(6,5);fill=negative",
    "theta=5x3x4;size=(2,3,4);fill=positive;align_corners=true",
    "theta=0x2x3;size=(4,5)",
    "theta=2x2x3;size=(33,65)",
    "theta=2x2x3;size=(127,3);align_corners=true",
    "theta=1x2x3;size=(1031,2);f16,bf16",
    "theta=1x2x3;size=(2,4099);f32",
    "theta=257x2x3;size=(2,3)",
]
LAID = ["theta=2x2x3;size=(3,4);layout=cropped", "theta=1x2x3;size=(2,3);layout=offset"]
ALIGNED = aligned("theta=16x2x3;size=(16,16)", "theta=2x2x3;size=(32,64)", "theta=1x3x4;size=(16,16,16)")
LONG, LONGEST = lengths("theta={n}x2x3;size=(2,2)")
SHORT = {"theta.1": _MAP, "theta.2": _MAP}
FULL = ["theta=1x2x3;size=(12289,2)", "theta=65537x2x3;size=(1,3)"]
WITHOUT = {"NaN, inf": "whether the place of a cell is 0, or next to it, is a matter of rounding"}
