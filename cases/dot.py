"""Cases of dot: lengths around vector widths and past blocks, strided vectors, cancellation."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.typed import typed

SMOKE = [
    "a=33,;b=33,",
]
STANDARD = [
    "a=1,;b=1,",
    "a=9,;b=9,;fill=wide",
    "a=31,;b=31,;layout=a:sliced",
    "a=32,;b=32,;layout=b:sliced",
    "a=63,;b=63,;layout=offset",
    "a=65,;b=65,;fill=offset",
    "a=97,;b=97,;fill=positive",
    "a=99,;b=99,;fill=negative",
    "a=127,;b=127,;fill=zeros",
    "a=128,;b=128,;layout=sliced",
    "a=11,;b=11,;fill=small;f32,bf16",
    "a=17,;b=17,;fill=exact",
    "a=13,;b=13,;fill=exact;layout=b:sliced",
    "a=200,;b=200,;fill=signs",
    "a=33,;b=33,;needs=a",
    "a=34,;b=34,;needs=b",
    "a=257,;b=257,",
    "a=768,;b=768,",
    "a=1031,;b=1031,",
    "a=4099,;b=4099,;f32",
    "a=21,;b=@a",
    "a=0,;b=0,",
]
TYPED = typed("signed unsigned", *SMOKE, *STANDARD)
LAID = ["a=1,;b=1,;layout=offset"]
ALIGNED = aligned(
    "a=64,;b=64,",
    "a=128,;b=128,;layout=sliced",
    "a=256,;b=256,;layout=a:sliced",
    "a=1024,;b=1024,",
    "a=4096,;b=4096,;layout=offset",
    "a=192,;b=192,",
    "a=64,;b=64,;layout=b:offset",
)
LONG, LONGEST = lengths("!!a={n},;b={n},")
FULL = [
    "a=12289,;b=12289,",
    "a=65537,;b=65537,;f32",
]
WITHOUT = {
    **PRODUCTS,
    "leading": "vectors have one axis",
    "NaN, inf": "its one number is NaN, whatever else is right",
}
