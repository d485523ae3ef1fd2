"""Cases of addmv: factors of either sign and 0, few rows and many, each input laid out in turn."""

from opproof.cases._rows.added_products import added
from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import BETWEEN
from opproof.cases._rows.shapes import of_one_row

SMOKE = ["x=7,;a=7x33;b=33,;beta=0.5;alpha=2.0", "x=5,;a=5x9;b=9,"]
STANDARD = [
    *added(
        (
            "a=31x33;b=33,",
            "a=5x64;b=64,;fill=wide",
            "a=5x96;b=96,;layout=transposed",
            "a=33x9;b=9,;layout=sliced",
            "a=4x5;b=5,;layout=gapped",
            "a=4x5;b=5,;layout=offset",
            "a=5x7;b=7,;layout=a:broadcast",
            "a=5x7;b=7,;needs=x",
            "a=5x7;b=7,;needs=b",
            "a=4x33;b=33,;fill=zeros",
            "a=3x0;b=0,",
        )
    ),
    "x=7,;a=7x13;b=13,;beta=-1.0;alpha=2.0;fill=exact",
    "x=9,;a=9x17;b=17,;beta=2.0;fill=signs",
    "x=7,;a=7x13;b=13,;beta=0.0",
    f"x=1031,;a=1031x3;b=3,;beta={8 * BETWEEN};alpha={8 * BETWEEN};f16,bf16",
    "x=3,;a=3x4099;b=4099,;f16,bf16",
]
LAID = ["x=1,;a=1x5;b=5,;layout=x:offset", "x=1,;a=1x1;b=1,;layout=offset", "x=3,;a=3x1;b=1,;layout=b:offset"]
ALIGNED = aligned(
    *added(
        (
            "a=64x64;b=64,",
            "a=128x64;b=64,",
            "a=64x128;b=128,",
            "a=192x64;b=64,",
            "a=16x48;b=48,",
            "a=128x128;b=128,",
            "a=64x64;b=64,",
        )
    )
)
LONG, LONGEST = lengths("!x={n},;a={n}x3;b=3,", "x=2,;a=2x{n};b={n},")
SHAPES = [
    *of_one_row("x={n},;a={n}x{k};b={k},;beta=0.5"),
    "x=1,;a=5x33;b=33,;beta=0.5",
    "x=5,;a=5x9;b=9,;beta=0.5;alpha=0.0",
]
FULL = ["x=4,;a=4x12289;b=12289,", "x=65537,;a=65537x3;b=3,"]
WITHOUT = {
    **PRODUCTS,
    "leading": "it has at most two axes",
    "NaN, inf": "what is special in b is so in every result",
}
PAIRED = [
    "x=7,;a=7x5;b=5,;beta=0.0;fill=masked",
    "x=7,;a=7x5;b=5,;beta=0.0;fill=masked-special",
]
