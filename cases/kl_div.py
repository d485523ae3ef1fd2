"""Cases of kl_div: every reduction, targets as probabilities and as their logarithms."""

from opproof.cases._rows.aligned import aligned_pairs
from opproof.cases._rows.laid import laid_pairs
from opproof.cases._rows.long import long_pairs
from opproof.cases._rows.losses import full_losses, losses

SMOKE = ["x=7x33;target=7x33;reduction=sum", "x=3x5;target=3x5"]
STANDARD = [
    "x=25x7;target=25x7;reduction=none;fill=special-rows",
    "x=25x7;target=25x7;reduction=none;log_target=true;fill=special-rows",
    *losses(("", "log_target=true"), drop=("special", "extreme", "offset", "wide")),
    "x=5x9;target=5x9;reduction=batchmean",
    "x=5x9;target=5x9;reduction=none;fill=brink;needs=x",
    "x=9x33;target=9x33;reduction=sum;fill=brink;needs=x",
    "x=5x9;target=5x9;reduction=batchmean;log_target=true;layout=x:transposed",
    "x=5x31;target=5x31;reduction=none;fill=wide",
    "x=4x99;target=4x99;reduction=none;fill=extreme",
    "x=5x31;target=5x31;reduction=none;log_target=true;fill=wide",
    "x=6x11;target=6x11;reduction=none;fill=offset",
    "x=2x3x4x7;target=2x3x4x7;reduction=none;layout=permuted",
    "x=1x4099;target=1x4099;reduction=sum;fill=positive;f16,bf16",
    "x=3x1031;target=3x1031;reduction=mean;fill=wide;f32,bf16",
    "x=3x1031;target=3x1031;reduction=batchmean;fill=wide;f32,bf16",
]
LAID = [*laid_pairs("x", "target", "reduction=none"), "x=0d;target=0d;reduction=sum;layout=offset"]
ALIGNED = aligned_pairs("x", "target", "reduction=none", "reduction=sum")
LONG, LONGEST = long_pairs("x", "target", "reduction=sum", dtype="f32")
SHAPES = [
    "x=1031x67;target=1031x67;reduction=batchmean;f32",
]
FULL = full_losses()
WITHOUT = {"meet": "targets are probabilities, and x their logarithms"}
