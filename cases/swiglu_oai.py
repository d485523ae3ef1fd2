"""Cases of swiglu_oai: slopes and limits on both sides of the data, in one tensor, swapped, and in two."""

from opproof.cases._rows.aligned import aligned_gated
from opproof.cases._rows.gated import gated
from opproof.cases._rows.long import lengths

SMOKE = ["x=7x33;gate=7x33", "x=7x66;swapped=true"]
STANDARD = [
    "x=9x33;gate=9x33;fill=edges",
    *gated(("", "alpha=1.0;limit=2.0", "alpha=0.5", "limit=1.5")),
    "x=4x66;limit=1.5;fill=kink",
    "x=5x66;fill=special;f16",
    "x=4x33;gate=4x33;limit=1.0;fill=kink;layout=transposed",
]
LAID = ["x=2x3x5x8;layout=cropped", "x=2x3x9;gate=2x3x9;layout=cropped"]
ALIGNED = aligned_gated()
LONG, LONGEST = lengths("x={n}x2", "x=1x{n};gate=1x{n}", "x={n}x1;gate={n}x1")
FULL = ["x=2x24578", "x=65537x6;swapped=true"]
