"""Cases of stack: two to four tensors, each axis, one tensor twice, each laid out in turn."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.shapes import many
from opproof.cases._rows.typed import typed

SMOKE = [
    "a=7x33;b=7x33;dim=0",
]
STANDARD = [
    "a=9,;b=9,;dim=0",
    "a=9,;b=9,;c=9,;dim=1",
    "a=5x31;b=5x31;dim=1;layout=a:transposed",
    "a=5x31;b=5x31;dim=2;layout=b:transposed",
    "a=3x32;b=3x32;c=3x32;dim=-1;layout=offset",
    "a=2x3x65;b=2x3x65;dim=1;layout=transposed",
    "a=2x3x4x7;b=2x3x4x7;c=2x3x4x7;dim=2;layout=permuted",
    "a=2x3x4x5;b=2x3x4x5;c=2x3x4x5;d=2x3x4x5;dim=-5",
    "a=3x33;b=3x33;dim=1;layout=a:sliced",
    "a=3x33;b=3x33;dim=-2;layout=b:gapped",
    "a=5x63;b=5x63;dim=1;layout=a:broadcast",
    "a=4x9;b=@a;dim=0",
    "a=4x9;b=4x9;c=@a;dim=2",
    "a=4x9;b=4x9;dim=1;needs=b",
    "a=0d;b=0d;dim=0",
    "a=3x0;b=3x0;dim=1",
    "a=3x11;b=3x11;dim=1;fill=special",
    "a=4x5;b=4x5;dim=-1;fill=exact",
    "a=2x1031;b=2x1031;dim=-1",
    "a=3x97;b=3x97;c=3x97;dim=1",
    "a=7x33;b=7x33;dim=0;layout=a:gapped,b:broadcast",
    "a=7x33;b=7x33;dim=0;layout=b:sliced",
    "a=3x97;b=3x97;dim=1;fill=extreme",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["a=2x3x4;b=2x3x4;dim=1;layout=cropped", "a=0d;b=0d;dim=0;layout=offset"]
LONG, LONGEST = lengths("a={n}x2;b={n}x2;dim=1", "a=1x{n};b=1x{n};dim=0")
SHAPES = [
    many("3x5", rest="dim=1", count=5),
    many("2x3", rest="dim=-1"),
    "a=3x3x3;b=3x3x3;dim=2",
]
FULL = [
    "a=2x12289;b=2x12289;dim=2",
    "a=65537x3;b=65537x3;dim=1",
]
