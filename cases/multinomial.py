"""Cases of multinomial: few classes and many, one, draws of one to thousands, keys, every layout; and draws given."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["x=7x9;count=257;key=7"]
STANDARD = [
    "x=3x2;count=1000;key=1",
    "x=5x33;count=100;key=2;layout=transposed",
    "x=5x33;count=100;key=3;layout=sliced",
    "x=5x32;count=100;key=4;layout=gapped",
    "x=5x32;count=100;key=5;layout=offset",
    "x=5x33;count=100;key=6;layout=broadcast",
    "x=5x33;count=100;key=6;layout=permuted",
    "x=1x1;count=9;key=8",
    "x=0x3;count=5;key=9",
    "x=9x5;count=1;key=10",
    "x=33x65;count=31;key=11;fill=wide",
    "x=33x7;count=65;key=12;fill=zeros",
    "x=33x7;count=65;key=13;fill=small",
    "x=33x7;count=65;key=14;fill=negative",
    "x=33x7;count=65;key=15;fill=extreme",
    "x=33x7;count=65;key=16;fill=offset",
    "x=1x9;count=4099;key=17",
    "x=257x3;count=33;key=18",
    "x=2x1031;count=1031;key=19",
    "x=7x33;drawn=7x20;count=20",
    "x=7x33;drawn=7x20;count=20;layout=drawn:transposed",
    "x=7x33;drawn=7x20;count=20;layout=x:sliced",
    "x=7x33;drawn=7x20;count=20;layout=drawn:sliced",
    "x=7x33;drawn=7x20;count=20;layout=drawn:gapped",
    "x=7x33;drawn=7x20;count=20;layout=drawn:broadcast",
    "x=7x32;drawn=7x32;count=32;layout=drawn:offset",
]
LAID = ["x=5x9;count=7;key=20;layout=cropped", "x=1x2;drawn=1x3;count=3;layout=offset"]
ALIGNED = aligned(
    "x=16x64;count=64;key=21",
    "x=64x128;count=16;key=22",
    "x=32x128;count=32;key=23",
    "x=16x256;count=64;key=24",
    "x=48x64;count=48;key=25",
    "x=16x512;count=16;key=26",
)
LONG, LONGEST = lengths(
    "x={n}x2;count=3;key=27",
    "x=2x{n};count=5;key=28;f32",
    "x={n}x2;drawn={n}x2;count=2",
    "x=2x3;drawn=2x{n};count={n}",
)
WITHOUT = {
    "NaN, inf": "there is no such probability",
    "leading": "it has two axes",
}
