"""Cases of baddbmm: x whole and broadcast, factors of either sign and 0, each input laid out in turn."""

from opproof.cases._rows.added_products import added
from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import BETWEEN
from opproof.cases._rows.shapes import of_one_row

SMOKE = ["x=2x7x5;a=2x7x33;b=2x33x5;beta=0.5;alpha=2.0", "x=5,;a=2x7x33;b=2x33x5"]
STANDARD = [
    *added(
        (
            "a=3x31x33;b=3x33x32",
            "a=2x5x64;b=2x64x63;fill=wide",
            "a=3x5x96;b=3x96x3;layout=transposed",
            "a=3x4x9;b=3x9x33;layout=a:transposed",
            "a=3x4x5;b=3x5x6;layout=sliced",
            "a=2x4x5;b=2x5x6;layout=gapped",
            "a=2x4x5;b=2x5x6;layout=offset",
            "a=3x5x7;b=3x7x3;layout=a:broadcast",
            "a=3x5x7;b=3x7x3;layout=b:broadcast",
            "a=3x5x7;b=3x7x3;layout=x:broadcast",
            "a=3x5x7;b=3x7x2;layout=permuted",
            "a=2x5x7;b=2x7x3;needs=x",
            "a=2x5x7;b=2x7x3;needs=b",
            "a=2x4x33;b=2x33x5;fill=zeros",
            "a=2x3x0;b=2x0x4",
            "a=0x3x3;b=0x3x4",
            "a=3x33x2;b=3x2x17;fill=special",
            "a=3x33x3;b=3x3x17;fill=special",
        ),
        lower=True,
    ),
    "x=2x7x9;a=2x7x13;b=2x13x9;beta=-1.0;alpha=2.0;fill=exact",
    "x=5,;a=2x7x13;b=2x13x5;beta=2.0;fill=signs",
    "x=2x7x9;a=2x7x13;b=2x13x9;beta=0.0",
    f"x=2x5x131;a=2x5x3;b=2x3x131;beta={8 * BETWEEN};alpha={8 * BETWEEN};f16,bf16",
    "x=2x1x3;a=2x1x4099;b=2x4099x3;f16,bf16",
]
LAID = [
    "x=2x3x5;a=2x3x4;b=2x4x5;layout=cropped",
    "x=1x1x1;a=1x1x5;b=1x5x1;layout=x:offset",
    "x=1x1x3;a=1x1x1;b=1x1x3;layout=a:offset",
    "x=1x3x1;a=1x3x1;b=1x1x1;layout=b:offset",
]
ALIGNED = aligned(
    *added(
        (
            "a=2x64x64;b=2x64x64",
            "a=2x64x64;b=2x64x128",
            "a=2x64x128;b=2x128x64",
            "a=3x64x64;b=3x64x64",
            "a=2x16x48;b=2x48x32",
            "a=3x64x64;b=3x64x64",
            "a=2x64x64;b=2x64x64",
            "a=2x64x104;b=2x104x24;f32",
            "a=2x16x64;b=2x64x2;f16,f32",
        )
    )
)
LONG, LONGEST = lengths(
    "x={n}x2x2;a={n}x2x1;b={n}x1x2",
    "x=1x{n}x3;a=1x{n}x2;b=1x2x3",
    "!x=1x3x{n};a=1x3x2;b=1x2x{n}",
    "x=1x2x1;a=1x2x{n};b=1x{n}x1",
)
SHAPES = [
    "x=1x5x7;a=3x5x64;b=3x64x7;beta=0.5",
    "x=3x1x7;a=3x5x33;b=3x33x7;alpha=2.0",
    *of_one_row("x=2x1x{n};a=2x1x{k};b=2x{k}x{n};beta=0.5"),
    "x=2x5x80;a=2x5x64;b=2x64x80",
    "x=2x32x48;a=2x32x65;b=2x65x48",
    "x=2x37x35;a=2x37x64;b=2x64x35",
    "x=2x5x7;a=2x5x9;b=2x9x7;beta=0.5;alpha=0.0",
    "x=2x128x128;a=2x128x8;b=2x8x128;f32",  # whole tiles, of fewer terms than a step has
]
FULL = ["x=2x4x3;a=2x4x12289;b=2x12289x3", "x=3,;a=65537x1x3;b=65537x3x3"]
WITHOUT = PRODUCTS
PAIRED = [
    "x=2x7x9;a=2x7x5;b=2x5x9;beta=0.0;fill=masked",
    "x=2x7x9;a=2x7x5;b=2x5x9;beta=0.0;fill=masked-special",
    "x=1x143x137;a=1x143x79;b=1x79x137;f16",
    "x=1x17x19;a=1x17x32771;b=1x32771x19;f32",
    "x=1x65539x1;a=1x65539x2;b=1x2x1;f32",
]
