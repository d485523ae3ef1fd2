"""Cases of cross_entropy_loss_back: one row and many, one class, saturated scores, a gradient that is not one."""

from opproof.cases._rows.aligned import aligned_pairs
from opproof.cases._rows.backward import full, rows
from opproof.cases._rows.long import lengths

SMOKE = ["grad=0d;x=7x33;target=7x33"]
# A gradient of 0 or of 1/1024 says nothing of the rest.
STANDARD = [
    "grad=0d;x=9x33;target=9x33;fill=far;f32",
    *[f"grad=0d;{row}" for row in rows("x", "target") if "zeros" not in row and "small" not in row],
    "grad=0d;x=2x1031;target=2x1031;bf16",
    "grad=0d;x=9x257;target=9x257;fill=past-exp",
]
LAID = ["grad=0d;x=3x5x9;target=3x5x9;layout=cropped", "grad=0d;x=5x9;target=5x9;layout=grad:offset"]
ALIGNED = [f"grad=0d;{row}" for row in aligned_pairs("x", "target")]
LONG, LONGEST = lengths("grad=0d;x=1x{n};target=1x{n}", "grad=0d;x={n}x2;target={n}x2", dtype="f32")
SHAPES = [
    "grad=0d;x=1031x67;target=1031x67;f32",
]
FULL = [f"grad=0d;{row}" for row in full("x", "target")]
