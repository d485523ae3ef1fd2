"""Cases of rope_offset: both pairings, partial rotation of tensors that are not contiguous, far offsets."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN

SMOKE = ["x=2x5x3x12;n_dims=8;offset=3", "x=2x5x3x12;n_dims=12;offset=7;mode=neox"]
STANDARD = [
    "x=2x5x3x34;n_dims=34;offset=2;inplace=x",
    "x=2x4x3x24;n_dims=20;mode=neox;layout=permuted;inplace=x",
    "x=2x5x3x32;n_dims=32;offset=9;layout=transposed",
    "x=2x5x3x34;n_dims=32;offset=1;fill=wide;layout=sliced",
    "x=3x4x2x66;n_dims=20;mode=neox;offset=31;layout=permuted",
    "x=2x7x3x64;n_dims=64;mode=neox;layout=gapped",
    "x=2x3x4x10;n_dims=6;freq_base=500.0;offset=100;layout=offset",
    "x=3x4x2x10;n_dims=10;freq_scale=0.5;offset=5;layout=broadcast",
    "x=1x3x2x16;n_dims=16;freq_base=1000000.0;offset=131068;mode=neox;f32",
    "x=2x4x2x10;n_dims=6;offset=4;fill=extreme",
    "x=2x4x2x10;n_dims=10;offset=4;fill=zeros",
    "x=2x5x3x12;n_dims=8;offset=1;fill=special",
    "x=0x4x2x8;n_dims=8;offset=3",
    "x=1x97x1x4;n_dims=4;offset=17",
    f"x=2x9x4x12;n_dims=12;offset=2;freq_scale={BETWEEN};freq_base={80 * BETWEEN};f16,bf16",
    "x=1x3x2x16;n_dims=16;freq_base=1000000.0;offset=131068;f16,bf16",
]
LAID = ["x=2x4x3x8;n_dims=8;offset=2;layout=cropped"]
LONG, LONGEST = lengths(
    "x={n}x1x1x2;n_dims=2;offset=3",
    "x=1x1x{n}x2;n_dims=2;offset=3",
    "x=1x1x1x{n};n_dims=2;offset=3",
    "x=1x{n}x1x2;n_dims=2;offset=3",
)
FULL = ["x=1x65537x1x2;n_dims=2;offset=1", "x=1x1x1x12290;n_dims=12288;offset=1"]
PAIRED = [
    "x=2x5x3x12;n_dims=8;offset=3;mode=neox;freq_scale=0.25;freq_base=500.0",
]
