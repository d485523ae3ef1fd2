"""Cases of swiglu_oai: slopes and limits on both sides of the data, in one tensor, swapped, and in two."""

from opproof.cases._gated import gated

SMOKE = ["x=7x33;gate=7x33", "x=7x66;swapped=true"]
STANDARD = [
    "x=9x33;gate=9x33;fill=edges",
    *gated(("", "alpha=1.0;limit=2.0", "alpha=0.5", "limit=1.5")),
    "x=4x66;limit=1.5;fill=kink",
    "x=5x66;fill=special;f16",
    "x=4x33;gate=4x33;limit=1.0;fill=kink;layout=transposed",
]
FULL = ["x=2x24578", "x=65537x6;swapped=true"]
