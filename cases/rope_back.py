"""Cases of rope_back: those of rope."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.rope import full, rows, smoke
from opproof.cases._rows.row import BETWEEN

SMOKE = smoke("grad")
STANDARD = [
    *rows("grad"),
    "grad=2x5x3x24;positions=4x5;n_dims=24;mode=imrope;sections=(4,3,3,2);layout=positions:gapped",
    "grad=1x8209x1x8;positions=8209,;freq_factors=4,;n_dims=8;freq_base=10.0;needs=freq_factors;f16,bf16",
    f"grad=2x9x4x12;positions=9,;n_dims=12;attn_factor={8 * BETWEEN};f16,bf16",
]
LAID = [
    "grad=2x4x3x8;positions=4,;n_dims=8;layout=cropped",
    "grad=2x4x3x8;positions=4,;freq_factors=4,;n_dims=8;layout=grad:cropped",
    "grad=2x1x3x8;positions=1,;n_dims=8;layout=positions:offset",
    "grad=2x4x3x2;positions=4,;freq_factors=1,;n_dims=2;layout=freq_factors:offset",
]
ALIGNED = aligned(
    "grad=1x8x4x64;positions=8,;n_dims=64",
    "grad=1x8x4x64;positions=8,;n_dims=64;mode=neox",
    "grad=1x4x2x128;positions=4,;n_dims=128",
    "grad=2x4x3x128;positions=4,;n_dims=128;mode=neox",
    "grad=2x4x3x64;positions=4,;freq_factors=32,;n_dims=64",
    "grad=2x4x3x64;positions=4,;n_dims=32;mode=neox",
    "grad=1x4x2x256;positions=4,;n_dims=256;mode=neox",
    "grad=2x4x3x64;positions=4,;n_dims=64;mode=neox;freq_scale=0.25;ext_factor=1.0;n_ctx_orig=64",
    "grad=1x16x2x64;positions=16,;n_dims=64",
)
LONG, LONGEST = lengths(
    "grad={n}x1x1x2;positions=1,;n_dims=2",
    "grad=1x1x{n}x2;positions=1,;n_dims=2",
    "grad=1x1x1x{n};positions=1,;n_dims=2",
    "grad=1x{n}x1x2;positions={n},;n_dims=2",
)
LONG += lengths("grad=1x1x1x{m};positions=1,;freq_factors={n},;n_dims={m};mode=neox", upto=4099)[0]
SHORT = {
    "positions.first": Limit(0, "positions of two axes have four rows"),
    "freq_factors.0": Limit(4099, "PyTorch's twin rotates one pair after the other, which takes seconds for 16385"),
}
FULL = full("grad")
PAIRED = [
    "grad=2x5x3x24;positions=4x5;n_dims=24;mode=mrope;sections=(4,3,5,0);freq_base=500.0;freq_scale=0.25;ext_factor=0.5;attn_factor=1.25;beta_fast=8.0;beta_slow=2.0;n_ctx_orig=64",
]
