"""Cases of rope_back: those of rope."""

from opproof.cases._rope import full, rows, smoke
from opproof.cases._rows import BETWEEN

SMOKE = smoke("grad")
STANDARD = [
    *rows("grad"),
    "grad=2x5x3x24;positions=4x5;n_dims=24;mode=imrope;sections=(4,3,3,2);layout=positions:gapped",
    "grad=1x8209x1x8;positions=8209,;freq_factors=4,;n_dims=8;freq_base=10.0;needs=freq_factors;f16,bf16",
    f"grad=2x9x4x12;positions=9,;n_dims=12;attn_factor={8 * BETWEEN};f16,bf16",
]
FULL = full("grad")
