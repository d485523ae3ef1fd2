"""Cases of linear_cross_entropy: reductions, an ignored class, smoothing, many classes, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import BETWEEN

SMOKE = ["x=7x9;weight=33x9;target=7,", "x=5x17;weight=6x17;target=5,;reduction=none"]
STANDARD = [
    "x=9x5;weight=4x5;target=9,;ignore_index=2;reduction=none;fill=masked",
    "x=1x5;weight=4x5;target=1,",
    "x=5x31;weight=33x31;target=5,;reduction=sum",
    "x=6x65;weight=9x65;target=6,;label_smoothing=0.1;layout=transposed",
    "x=9x5;weight=4x5;target=9,;ignore_index=1;layout=x:sliced",
    "x=9x5;weight=4x5;target=9,;ignore_index=1;label_smoothing=0.2;reduction=sum;layout=sliced",
    "x=5x32;weight=7x32;target=5,;reduction=none;layout=gapped",
    "x=5x32;weight=7x32;target=5,;reduction=sum;layout=offset",
    "x=5x9;weight=7x9;target=5,;reduction=none;layout=x:broadcast",
    "x=9x7;weight=5x7;target=9,;reduction=none;layout=sliced",
    "x=9x9;weight=4x9;target=9,;ignore_index=2;reduction=none;layout=weight:broadcast,target:sliced",
    "x=5x9;weight=7x9;target=5,;reduction=sum;needs=x",
    "x=5x9;weight=7x9;target=5,;reduction=sum;needs=weight",
    "x=6x13;weight=5x13;target=6,;reduction=none;fill=zeros",
    "x=0x5;weight=4x5;target=0,;reduction=sum",
    "x=3x7;weight=257x7;target=3,;reduction=none",
    f"x=519x9;weight=7x9;target=519,;label_smoothing={BETWEEN};reduction=none;f16,bf16",
    "x=1031x3;weight=4x3;target=1031,;reduction=sum;f16,bf16",
    "x=1031x3;weight=4x3;target=1031,;reduction=none",
    "x=4099x2;weight=3x2;target=4099,;reduction=sum;fill=growing;f16,bf16",
]
LAID = [
    "x=1x1;weight=5x1;target=1,;reduction=sum;layout=x:offset,target:offset",
    "x=3x1;weight=1x1;target=3,;reduction=sum;layout=weight:offset",
]
ALIGNED = aligned(
    "x=64x64;weight=64x64;target=64,;reduction=sum",
    "x=64x64;weight=128x64;target=64,;reduction=none",
    "x=64x128;weight=64x128;target=64,;reduction=none",
    "x=64x64;weight=192x64;target=64,;reduction=sum",
    "x=16x64;weight=64x64;target=16,;reduction=none",
    "x=32x32;weight=48x32;target=32,;label_smoothing=0.1;reduction=sum",
    "x=64x64;weight=64x64;target=64,;reduction=none",
)
LONG, LONGEST = lengths(
    "!x={n}x2;weight=3x2;target={n},;reduction=sum",
    "!x=2x2;weight={n}x2;target=2,;reduction=sum",
    "!!x=2x{n};weight=3x{n};target=2,;reduction=sum;f32",
)
SHAPES = [
    # targets that are no class, and ignored
    "x=9x5;weight=4x5;target=9,;ignore_index=-1",
]
FULL = ["x=2x12289;weight=3x12289;target=2,;reduction=sum;f32", "x=65537x3;weight=4x3;target=65537,;reduction=sum;f32"]
WITHOUT = {
    **PRODUCTS,
    "leading": "it has at most two axes",
    "NaN, inf": "what is special in weight makes every result NaN",
    "masked NaN": "the gradient of weight multiplies ignored rows by zeros, which makes NaN of NaN",
}
PAIRED = [
    "x=9x5;weight=7x5;target=9,;ignore_index=1;label_smoothing=0.2;reduction=sum",
]
