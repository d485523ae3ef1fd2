"""Cases of lerp: weights on both sides of a half and outside [0, 1], every kind of broadcast."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS

SMOKE = ["a=7x33;b=7x33;weight=7x33", "a=4x3;b=4x3;weight=0d"]
STANDARD = [
    "a=7x33;b=7x33;weight=7x33;inplace=a",
    "a=7x33;b=7x33;weight=7x33;inplace=b",
    "a=5x31;b=5x31;weight=5x31;inplace=weight",
    "a=2x3x17;b=2x3x17;weight=0d;layout=a:transposed;inplace=a",
    "a=9x33;b=9x33;weight=9x33;fill=meet",
    "a=9,;b=9,;weight=9,",
    "a=5x31;b=5x31;weight=0d;fill=wide",
    "a=3x32;b=1x32;weight=3x1;layout=offset",
    "a=2x3x65;b=3x65;weight=65,;layout=a:transposed",
    "a=2x3x4x7;b=2x3x4x7;weight=3x1x1;layout=permuted",
    "a=1x5;b=4x1;weight=4x5;layout=weight:sliced",
    "a=4x128;b=4x128;weight=4x128;layout=gapped",
    "a=5x63;b=5x63;weight=5x63;layout=weight:broadcast",
    "a=2x257;b=2x257;weight=2x257;fill=zeros",
    "a=6x11;b=6x11;weight=6x1;fill=mixed",
    "a=6x11;b=6x11;weight=6x11;fill=offset",
    "a=3x33;b=3x33;weight=3x33;layout=b:transposed",
    "a=5x13;b=5x13;weight=5x13;needs=a",
    "a=5x13;b=5x13;weight=5x1;needs=weight",
    "a=5x17;b=5x17;weight=@a",
    "a=2x3x5;b=3x1;weight=5,;fill=exact",
    "a=9x17;b=9x17;weight=9x17;fill=signs",
    "a=3x0;b=3x0;weight=3x1",
    "a=0d;b=0d;weight=0d",
    "a=5x1031;b=5x1031;weight=1031,",
    "a=7x33;b=7x33;weight=7x33;layout=a:broadcast,b:broadcast,weight:transposed",
    "a=7x33;b=7x33;weight=7x33;layout=a:sliced,b:sliced",
    "a=4099x3;b=4099x3;weight=3,;fill=growing;f16,bf16",
    "a=9x9;b=9x9;weight=9,",
    "a=2x1x3x1x2x5;b=1x2x1x4x1x5;weight=2x1x1x4x1x5;f32;layout=permuted",
]
LAID = [
    "a=2x3x4;b=2x3x4;weight=2x3x4;layout=cropped",
    "a=3x5;b=3x5;weight=0d;layout=weight:offset",
    "a=0d;b=3x5;weight=3x5;layout=a:offset",
    "a=3x5;b=0d;weight=3x5;layout=b:offset",
]
LONG, LONGEST = lengths("a={n}x2;b={n}x2;weight={n}x2", "a=1x{n};b=2x{n};weight=1x{n}", "a=1x{n};b=1x{n};weight=1x{n}")
FULL = ["a=2x12289;b=12289,;weight=2x1", "a=65537x3;b=65537x3;weight=0d"]
WITHOUT = {**PRODUCTS, "NaN, inf": "a + w (b - a) makes NaN of infinities where (1 - w) a + w b does not"}
SHAPES = [
    "a=9x9;b=9x9;weight=9x1",
    "a=9x1;b=9x9;weight=9x9",
]
