"""Cases of smooth_l1_loss: every reduction, betas of zero, below and above 1, differences equal to them."""

from opproof.cases._rows.aligned import aligned_pairs
from opproof.cases._rows.laid import laid_pairs
from opproof.cases._rows.long import long_pairs
from opproof.cases._rows.losses import full_losses, losses

SMOKE = ["x=7x33;target=7x33;reduction=sum", "x=3x5;target=3x5"]
STANDARD = [
    "x=9x33;target=9x33;reduction=none;fill=meet",
    "x=9x33;target=9x33;reduction=none;beta=0.5;fill=edges",
    "x=9x33;target=9x33;reduction=sum;beta=0.0;fill=meet",
    "x=9x33;target=9x33;reduction=mean;fill=heavy;f16",
    *losses(("", "beta=0.25", "beta=2.5", "beta=0.0")),
    "x=4x33;target=4x33;reduction=none;fill=halves",
    "x=2x3x9;target=2x3x9;reduction=sum;fill=halves;layout=x:transposed",
    "x=4x33;target=4x33;reduction=none;beta=0.5;fill=halves",
    "x=2x3x9;target=2x3x9;reduction=sum;beta=0.5;fill=halves;layout=x:transposed",
    "x=3x1031;target=3x1031;reduction=mean;fill=wide;f32,bf16",
]
LAID = [*laid_pairs("x", "target", "reduction=none"), "x=0d;target=0d;reduction=sum;layout=offset"]
ALIGNED = aligned_pairs("x", "target", "reduction=none", "reduction=sum")
LONG, LONGEST = long_pairs("x", "target", "reduction=sum", dtype="f32")
FULL = full_losses()
