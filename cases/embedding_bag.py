"""Cases of embedding_bag: each mode, weights, bags that name rows twice, rows left out, rows named by nobody."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["weight=7x33;indices=5x3", "weight=7x33;indices=5x3;per_sample_weights=5x3;mode=sum"]
STANDARD = [
    "weight=3x5;indices=4099x2;mode=sum;fill=growing;f16,bf16",
    "weight=5x31;indices=3x4;fill=wide;mode=sum",
    "weight=5x31;indices=3x4;mode=max",
    "weight=4x9;indices=6x5;mode=max;padding_idx=2",
    "weight=4x9;indices=6x5;padding_idx=1",
    "weight=3x33;indices=9x4;padding_idx=0;layout=weight:transposed",
    "weight=5x7;indices=33x3;padding_idx=4;layout=indices:transposed",
    "weight=4x9;indices=6x5;per_sample_weights=6x5;mode=sum;padding_idx=0",
    "weight=2x9;indices=9x2;padding_idx=1;mode=max",
    "weight=9x32;indices=6x2;layout=weight:offset",
    "weight=6x33;indices=7x2;layout=weight:transposed;mode=sum",
    "weight=6x65;indices=3x5;layout=indices:transposed",
    "weight=8x63;indices=9x3;layout=sliced;mode=max",
    "weight=8x64;indices=9x3;layout=gapped",
    "weight=4x6;indices=3x7;layout=indices:sliced;mode=sum",
    "weight=6x9;indices=5x3;layout=weight:broadcast",
    "weight=6x9;indices=5x3;layout=indices:broadcast;mode=sum",
    "weight=6x9;indices=5x3;layout=indices:gapped",
    "weight=6x9;indices=5x3;layout=indices:offset",
    "weight=6x9;indices=5x3;per_sample_weights=5x3;mode=sum;layout=per_sample_weights:transposed",
    "weight=6x9;indices=5x3;per_sample_weights=5x3;mode=sum;layout=per_sample_weights:sliced",
    "weight=6x9;indices=5x3;per_sample_weights=5x3;mode=sum;layout=per_sample_weights:gapped",
    "weight=6x9;indices=5x3;per_sample_weights=5x3;mode=sum;layout=per_sample_weights:broadcast",
    "weight=6x9;indices=5x3;per_sample_weights=5x3;mode=sum;layout=offset",
    "weight=6x9;indices=5x3;per_sample_weights=5x3;mode=sum;needs=per_sample_weights",
    "weight=6x9;indices=5x3;per_sample_weights=5x3;mode=sum;needs=weight",
    "weight=33x4;indices=5x3;fill=zeros",
    "weight=7x4;indices=5x3;fill=ties;mode=max",
    "weight=5x127;indices=8x2;fill=extreme;mode=max",
    "weight=9x8;indices=6x2;fill=special",
    "weight=9x1;indices=33x2",
    "weight=3x5;indices=0x3",
    "weight=257x3;indices=130x2;mode=sum",
    "weight=3x97;indices=5x1",
    "weight=3x5;indices=2x1031;f16,bf16",
    "weight=3x5;indices=2x4099;per_sample_weights=2x4099;mode=sum;f32",
    "weight=4099x17;indices=33x2;mode=sum;f32,f16,bf16",
]
LAID = [
    "weight=7x5;indices=4x3;layout=cropped",
    "weight=1x1;indices=3x2;per_sample_weights=3x2;mode=sum;layout=weight:offset",
    "weight=5x7;indices=1x1;per_sample_weights=1x1;mode=sum;layout=indices:offset,per_sample_weights:offset",
    "weight=7x5;indices=4x3;per_sample_weights=4x3;mode=sum;layout=per_sample_weights:cropped",
]
ALIGNED = aligned(
    "weight=32x64;indices=16x16",
    "weight=16x128;indices=32x16;mode=sum",
    "weight=64x64;indices=16x16;mode=max",
    "weight=16x256;indices=16x16;per_sample_weights=16x16;mode=sum",
    "weight=32x64;indices=48x16",
    "weight=128x64;indices=16x32",
    "weight=16x64;indices=32x16;mode=max",
    "weight=16x1024;indices=16x16;f16,f32,bf16",
)
LONG, LONGEST = lengths(
    "!weight={n}x2;indices=3x2",
    "!weight=3x{n};indices=2x2",
    "weight=3x2;indices={n}x1;per_sample_weights={n}x1;mode=sum",
    "weight=3x2;indices=1x{n};per_sample_weights=1x{n};mode=sum",
)
FULL = ["weight=4x12289;indices=3x2", "weight=65537x3;indices=65537x2"]
WITHOUT = {"leading": "its tensors have two axes"}
SHAPES = [
    "weight=5x7;indices=3x33;mode=sum;fill=spread;f32",
]
