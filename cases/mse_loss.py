"""Cases of mse_loss: every reduction, large and small differences."""

from opproof.cases._rows.aligned import aligned_pairs
from opproof.cases._rows.laid import laid_pairs
from opproof.cases._rows.long import long_pairs
from opproof.cases._rows.losses import full_losses, losses

SMOKE = ["x=7x33;target=7x33;reduction=sum", "x=3x5;target=3x5"]
STANDARD = [
    "x=9x33;target=9x33;reduction=none;fill=meet",
    *losses(),
    "x=5x9;target=5x9;reduction=none;fill=exact",
    "x=3x1031;target=3x1031;reduction=mean;fill=wide;f32,bf16",
]
LAID = [*laid_pairs("x", "target", "reduction=none"), "x=0d;target=0d;reduction=sum;layout=offset"]
ALIGNED = aligned_pairs("x", "target", "reduction=none", "reduction=sum")
LONG, LONGEST = long_pairs("x", "target", "reduction=sum", dtype="f32")
FULL = full_losses()
SHAPES = [
    "x=3x1031;target=3x1031;reduction=mean;fill=outliers;f16",
]
