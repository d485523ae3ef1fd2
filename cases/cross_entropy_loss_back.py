"""Cases of cross_entropy_loss_back: one row and many, one class, saturated scores, a gradient that is not one."""

from opproof.cases._backward import full, rows

SMOKE = ["grad=0d;x=7x33;target=7x33"]
# A gradient of 0 or of 1/1024 says nothing of the rest.
STANDARD = [
    "grad=0d;x=9x33;target=9x33;fill=far;f32",
    *[f"grad=0d;{row}" for row in rows("x", "target") if "zeros" not in row and "small" not in row],
    "grad=0d;x=2x1031;target=2x1031;bf16",
]
FULL = [f"grad=0d;{row}" for row in full("x", "target")]
