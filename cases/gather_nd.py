"""Cases of gather_nd: one to three indices, batches, repeated places, rests of every rank, each input laid out."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.typed import typed

_NAMED = Limit(0, "there is an index for each axis that is named, of which a tensor has few")

SMOKE = ["x=7x9x5;indices=6x2"]
STANDARD = [
    "x=9,;indices=20x1",
    "x=7x9;indices=20x2",
    "x=7x9;indices=5x1;layout=x:transposed",
    "x=5x31x3;indices=4x2;layout=x:transposed",
    "x=5x6x7;indices=9x3;layout=indices:transposed",
    "x=5x6x33;indices=3x5x2;layout=x:sliced",
    "x=5x6x65;indices=3x5x2;layout=x:gapped,indices:sliced",
    "x=4x5x6x7;indices=7x2;layout=permuted",
    "x=4x5x32;indices=7x2;layout=offset",
    "x=4x5x63;indices=7x2;layout=x:broadcast",
    "x=4x5x9;indices=7x2;layout=indices:broadcast",
    "x=4x5x9;indices=7x2;layout=indices:gapped",
    "x=3x5x9;indices=3x7x1;batch_dims=1",
    "x=3x5x6x4;indices=3x7x2;batch_dims=1;layout=transposed",
    "x=2x3x5x4;indices=2x3x6x1;batch_dims=2;layout=indices:permuted",
    "x=2x3x5x4;indices=2x3x2;batch_dims=1",
    "x=3x5x22;indices=33x2;fill=special",
    "x=3x5x97;indices=9x2;fill=extreme",
    "x=5x3x7;indices=17x2;fill=exact",
    "x=2x3x7;indices=65x2;fill=signs;layout=x:transposed",
    "x=1x1x5;indices=3x2",
    "x=3x5x4;indices=0x2",
    "x=3x4;indices=257x2",
    "x=2x3x1031;indices=5x2",
    "x=2x3;indices=1031x2",
    "x=2x3x2;indices=4099x2;f16,bf16",
    "x=4099x17;indices=66x1;f32,f16,bf16",
    "x=3x2;indices=4099x1;fill=growing;f16,bf16",
    "x=2x3x1x2x3x5;indices=4x2;f32;layout=permuted",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = [
    "x=2x3x4x5;indices=5x2;layout=cropped",
    "x=1x1;indices=5x2;layout=x:offset",
    "x=5x3;indices=1x2;layout=indices:offset",
]
ALIGNED = aligned(
    "x=16x16x64;indices=16x2",
    "x=64x128;indices=32x1",
    "x=32x16x32;indices=64x2",
    "x=16x256;indices=64x2",
    "x=16x16x64;indices=32x2",
    "x=32x16x16;indices=16x2",
    "x=64x64;indices=64x2",
    "x=128x64;indices=16x1",
)
LONG, LONGEST = lengths(
    "x={n}x2x2;indices=3x1", "x=2x{n}x2;indices=3x2", "!x=2x2x{n};indices=3x2", "x=3x2;indices={n}x1"
)
SHORT = {"indices.last": _NAMED}
SHAPES = ["x=2x3x7;indices=65x2;fill=spread;f32", "x=4x4x4;indices=4x2", "x=1031x67;indices=1031x1;f32"]
FULL = ["x=2x2x12289;indices=5x2", "x=65537x3;indices=9x1"]
