"""Cases of add1: one number for every rank of a, itself of several ranks."""

from opproof.cases._rows.long import Limit, lengths

SMOKE = ["a=7x33;b=1,"]
STANDARD = [
    "a=7x33;b=1,;inplace=a",
    "a=3x2x65;b=1,;layout=a:transposed;inplace=a",
    "a=9,;b=1,",
    "a=5x31;b=0d;fill=wide",
    "a=3x32;b=1x1;layout=offset",
    "a=2x3x65;b=1,;layout=a:transposed",
    "a=2x3x4x7;b=1x1x1x1;layout=permuted",
    "a=4x127;b=1,;fill=extreme",
    "a=3x33;b=1,;layout=sliced",
    "a=4x128;b=1,;layout=gapped",
    "a=5x63;b=0d;layout=a:broadcast",
    "a=2x257;b=1,;fill=halves",
    "a=6x11;b=1,;fill=small",
    "a=6x13;b=1,;needs=b",
    "a=6x13;b=1,;needs=a",
    "a=5x9;b=1,;fill=exact",
    "a=66,;b=1,;fill=extreme",
    "a=0d;b=0d",
    "a=3x0;b=1,",
    "a=5x1031;b=1,",
    "a=1,;b=@a",
    "a=2x3x1x2x3x5;b=1,;f32;layout=a:permuted",
]
LAID = ["a=2x3x4;b=1,;layout=cropped", "a=0d;b=0d;layout=a:offset"]
LONG, LONGEST = lengths("a={n}x2;b=1,", "a=1x{n};b=1,")
SHORT = {"b.first": Limit(0, "it is one number"), "b.last": Limit(0, "it is one number")}
FULL = ["a=2x12289;b=1,", "a=65537x3;b=1,"]
WITHOUT = {
    "NaN, inf": "b is one number, and special it decides all",
    "special pairs": "b is one number, and special it decides all",
    "channels, large": "b is one number",
}
