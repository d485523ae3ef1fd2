"""Cases of concat: unequal sizes, three and four tensors, one tensor twice, an empty one, each laid out in turn."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.shapes import many
from opproof.cases._rows.typed import typed

SMOKE = ["a=7x33;b=7x5;dim=-1"]
STANDARD = [
    "a=9,;b=4,;dim=0",
    "a=5x31;b=3x31;dim=0;layout=a:transposed",
    "a=5x31;b=3x31;dim=0;layout=b:transposed",
    "a=3x32;b=3x1;c=3x65;dim=1;layout=offset",
    "a=2x3x65;b=2x4x65;dim=1;layout=transposed",
    "a=2x3x4x7;b=2x3x5x7;c=2x3x1x7;dim=2;layout=permuted",
    "a=2x3x4x5;b=3x3x4x5;c=1x3x4x5;d=2x3x4x5;dim=-4",
    "a=3x33;b=3x17;dim=1;layout=a:sliced",
    "a=3x33;b=3x17;dim=1;layout=b:gapped",
    "a=5x63;b=5x2;dim=1;layout=a:broadcast",
    "a=4x9;b=@a;dim=0",
    "a=4x9;b=3x9;c=@a;dim=0",
    "a=4x9;b=4x3;dim=1;needs=b",
    "a=4x9;b=4x3;dim=1;needs=a",
    "a=3x0;b=3x5;dim=1",
    "a=3x5;b=3x0;c=3x2;dim=-1",
    "a=3x11;b=3x22;dim=1;fill=special",
    "a=4x3;b=4x5;dim=1;fill=exact",
    "a=2x1031;b=2x257;dim=1",
    "a=7x33;b=7x5;dim=-1;layout=a:gapped,b:broadcast",
    "a=7x33;b=7x5;dim=-1;layout=b:sliced",
    "a=3x97;b=3x22;dim=1;fill=extreme",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["a=2x3x4;b=2x5x4;dim=1;layout=cropped", "a=1,;b=5,;dim=0;layout=a:offset", "a=5,;b=1,;dim=0;layout=b:offset"]
LONG, LONGEST = lengths(
    "a={n}x2;b=3x2;dim=0",
    "a=3x2;b={n}x2;dim=0",
    "a={n}x1;b={n}x2;dim=1",
    "a=2x{n};b=2x3;dim=1",
    "a=1x{n};b=2x{n};dim=0",
)
SHAPES = [
    many("3x2", "3x1", "3x4", rest="dim=1", count=5),
    many("1x3", "2x3", "4x3", rest="dim=0"),
    "a=3x3x3;b=3x3x3;dim=1",
]
FULL = ["a=2x12289;b=2x3;dim=1", "a=65537x2;b=65537x3;dim=1"]
