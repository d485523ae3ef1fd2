"""Cases of addmm: x whole and broadcast, factors of either sign and 0, each input laid out in turn."""

from opproof.cases._rows.added_products import added
from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import BETWEEN
from opproof.cases._rows.shapes import of_one_row

SMOKE = ["x=7x5;a=7x33;b=33x5;beta=0.5;alpha=2.0", "x=5,;a=7x33;b=33x5"]
STANDARD = [
    *added(
        (
            "a=31x33;b=33x32",
            "a=5x64;b=64x63;fill=wide",
            "a=5x96;b=96x3;layout=transposed",
            "a=4x9;b=9x33;layout=a:transposed",
            "a=4x5;b=5x6;layout=sliced",
            "a=4x5;b=5x6;layout=gapped",
            "a=4x5;b=5x6;layout=offset",
            "a=5x7;b=7x3;layout=a:broadcast",
            "a=5x7;b=7x3;layout=b:broadcast",
            "a=5x7;b=7x3;layout=x:broadcast",
            "a=5x7;b=7x3;needs=x",
            "a=5x7;b=7x3;needs=b",
            "a=4x33;b=33x5;fill=zeros",
            "a=3x0;b=0x4",
            "a=0x3;b=3x4",
            "a=33x2;b=2x17;fill=special",
            "a=33x3;b=3x17;fill=special",
        ),
        lower=True,
    ),
    "x=7x9;a=7x13;b=13x9;beta=-1.0;alpha=2.0;fill=exact",
    "x=5,;a=7x13;b=13x5;beta=2.0;fill=signs",
    "x=7x9;a=7x13;b=13x9;beta=0.0",
    f"x=9x131;a=9x3;b=3x131;beta={8 * BETWEEN};alpha={8 * BETWEEN};f16,bf16",
    "x=3x2;a=3x4099;b=4099x2;f32",
    "x=2x3;a=2x4099;b=4099x3;f16,bf16",
    "x=3,;a=4099x2;b=2x3;fill=growing;f16,bf16",
]
LAID = ["x=1x1;a=1x5;b=5x1;layout=x:offset", "x=1x3;a=1x1;b=1x3;layout=a:offset", "x=3x1;a=3x1;b=1x1;layout=b:offset"]
ALIGNED = aligned(
    *added(
        (
            "a=64x64;b=64x64",
            "a=128x64;b=64x64",
            "a=64x128;b=128x64",
            "a=64x64;b=64x128",
            "a=16x48;b=48x32",
            "a=128x64;b=64x64",
            "a=64x64;b=64x64",
            "a=64x104;b=104x24;f32",
            "a=16x64;b=64x2;f16,f32",
        )
    )
)
LONG, LONGEST = lengths(
    "x={n}x3;a={n}x2;b=2x3",
    "x=3x{n};a=3x2;b=2x{n};beta=0.5",
    "!x={n},;a=3x2;b=2x{n};alpha=0.5",
    "!!x=2x1;a=2x{n};b={n}x1",
)
SHAPES = [
    *of_one_row("x=1x{n};a=1x{k};b={k}x{n};alpha=2.0"),
    "x=5x80;a=5x64;b=64x80;beta=0.5;alpha=2.0",
    "x=32x48;a=32x65;b=65x48",
    "x=37x35;a=37x64;b=64x35;beta=-0.25",
    "x=5x7;a=5x9;b=9x7;beta=0.5;alpha=0.0",
    "x=128x128;a=128x8;b=8x128;f32",  # whole tiles, of fewer terms than a step has
]
FULL = ["x=4x3;a=4x12289;b=12289x3", "x=3,;a=65537x3;b=3x3"]
WITHOUT = {**PRODUCTS, "leading": "it has at most two axes"}
PAIRED = [
    "x=7x9;a=7x5;b=5x9;beta=0.0;fill=masked",
    "x=7x9;a=7x5;b=5x9;beta=0.0;fill=masked-special",
    "x=143x137;a=143x79;b=79x137;f16",
    "x=17x19;a=17x32771;b=32771x19;f32",
    "x=65539x1;a=65539x2;b=2x1;f32",
]
