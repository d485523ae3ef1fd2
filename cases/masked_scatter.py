"""Cases of masked_scatter: each tensor laid out in turn, a source that is longer than the mask asks for."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x9;mask=7x9;source=7x9"]
STANDARD = [
    "x=7x9;mask=7x9;source=7x9;inplace=x",
    "x=5x17;mask=5x17;source=5x17;layout=x:transposed;inplace=x",
    "x=19,;mask=19,;source=19,",
    "x=5x31;mask=5x31;source=5x31;layout=mask:transposed",
    "x=5x31;mask=5x31;source=5x31;layout=source:transposed",
    "x=3x32;mask=3x32;source=3x32;layout=offset",
    "x=2x3x65;mask=2x3x65;source=2x3x65;layout=transposed",
    "x=2x3x4x7;mask=2x3x4x7;source=2x3x4x7;layout=permuted",
    "x=3x33;mask=3x33;source=3x33;layout=x:sliced",
    "x=3x33;mask=3x33;source=3x33;layout=mask:sliced,source:gapped",
    "x=4x128;mask=4x128;source=4x128;layout=x:gapped",
    "x=5x63;mask=5x63;source=5x63;layout=x:broadcast",
    "x=5x63;mask=5x63;source=5x63;layout=source:broadcast",
    "x=5x9;mask=5x9;source=5x9;layout=mask:broadcast",
    "x=4x5;mask=4x5;source=4x5;needs=x",
    "x=4x5;mask=4x5;source=4x5;needs=source",
    "x=3x22;mask=3x22;source=3x22;fill=special",
    "x=3x97;mask=3x97;source=3x97;fill=extreme",
    "x=5x7;mask=5x7;source=5x7;fill=exact",
    "x=9x33;mask=9x33;source=9x33;fill=truths",
    "x=5x7;mask=5x7;source=5x7;fill=negative",
    "x=3x0;mask=3x0;source=3x0",
    "x=5x1031;mask=5x1031;source=5x1031",
    "x=2x3x1x2x3x5;mask=2x3x1x2x3x5;source=2x3x1x2x3x5;f32;layout=permuted",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x3x4;mask=2x3x4;source=2x3x4;layout=cropped", "x=1,;mask=1,;source=1,;layout=offset"]
ALIGNED = aligned(
    "x=16x64;mask=16x64;source=16x64",
    "x=64x128;mask=64x128;source=64x128",
    "x=16x256;mask=16x256;source=16x256",
    "x=2x16x64;mask=2x16x64;source=2x16x64",
    "x=48x64;mask=48x64;source=48x64",
    "x=2x16x32;mask=2x16x32;source=2x16x32",
)
LONG, LONGEST = lengths("x={n}x2;mask={n}x2;source={n}x2", "x=1x{n};mask=1x{n};source=1x{n}")
FULL = ["x=65537x3;mask=65537x3;source=65537x3", "x=2x12289;mask=2x12289;source=2x12289"]
