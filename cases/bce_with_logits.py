"""Cases of bce_with_logits: every reduction, saturated logits, both weights, broadcast and not."""

from opproof.cases._rows.aligned import aligned_pairs
from opproof.cases._rows.laid import laid_pairs
from opproof.cases._rows.long import lengths
from opproof.cases._rows.losses import full_losses, losses

SMOKE = ["x=7x33;target=7x33;reduction=sum", "x=3x5;target=3x5"]
STANDARD = [
    "x=4099x3;target=4099x3;weight=3,;reduction=sum;fill=growing;f16,bf16",
    "x=9x33;target=9x33;reduction=none;fill=far;f32",
    *losses(drop=("small",)),
    "x=7x33;target=7x33;weight=7x33;reduction=none",
    "x=7x3;target=7x3;weight=3,;reduction=mean;layout=x:transposed",
    "x=6x9;target=6x9;weight=6x1;pos_weight=9,;reduction=sum",
    "x=5x12;target=5x12;pos_weight=12,;reduction=none",
    "x=2x3x7;target=2x3x7;pos_weight=1,;reduction=sum;layout=permuted",
    "x=7x33;target=7x33;weight=7x33;pos_weight=33,;reduction=none;fill=brink",
    "x=3x15;target=3x15;pos_weight=15,;reduction=none;fill=candle-2114",
    "x=7x33;target=7x33;weight=7x33;pos_weight=33,;reduction=none;layout=weight:transposed,pos_weight:sliced",
    "x=7x33;target=7x33;weight=7x33;pos_weight=33,;reduction=none;layout=weight:sliced,pos_weight:offset",
    "x=7x33;target=7x33;weight=7x33;pos_weight=33,;reduction=none;layout=weight:gapped",
    "x=7x33;target=7x33;weight=7x33;pos_weight=33,;reduction=none;layout=weight:offset",
    "x=7x33;target=7x33;weight=7x33;pos_weight=33,;reduction=none;layout=weight:broadcast",
    "x=9x9;target=9x9;weight=9,;pos_weight=9,;reduction=sum",
    "x=3x1031;target=3x1031;reduction=mean;fill=wide;f32,bf16",
]
LAID = [
    *laid_pairs("x", "target", "reduction=none"),
    "x=0d;target=0d;reduction=sum;layout=offset",
    "x=5x9;target=5x9;weight=5x9;pos_weight=1,;layout=pos_weight:offset",
]
ALIGNED = aligned_pairs("x", "target", "reduction=none", "reduction=sum")
LONG, LONGEST = lengths(
    "x={n}x2;target={n}x2;weight={n}x2;reduction=sum",
    "x=2x{n};target=2x{n};weight=2x{n};pos_weight={n},;reduction=sum",
    "x=1x{n};target=1x{n};weight=1x{n};pos_weight={n},;reduction=sum",
    dtype="f32",
)
FULL = full_losses()
