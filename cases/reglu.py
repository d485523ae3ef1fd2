"""Cases of reglu: a rectified half times the other, in one tensor, swapped, and in two."""

from opproof.cases._gated import gated

SMOKE = ["x=7x66", "x=7x66;swapped=true", "x=7x33;gate=7x33"]
STANDARD = [
    "x=9x33;gate=9x33;fill=edges",
    *gated(drop=("negative",)),
    "x=127,;gate=127,;fill=extreme",
    "x=4x66;fill=kink",
    "x=4x33;gate=4x33;fill=kink;layout=transposed",
]
FULL = ["x=2x24578", "x=65537x6;swapped=true"]
