"""Cases of masked_fill: values that matter (-inf, 0, finite), masks that broadcast."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=7x33;mask=7x33;value=-inf"]
STANDARD = [
    "x=7x33;mask=7x33;value=-2.5;inplace=x",
    "x=3x2x65;mask=2x65;value=0.5;layout=x:transposed;inplace=x",
    "x=7x33;mask=7x33;value=-1.5;fill=truths",
    "x=5x4x33;mask=4x33;value=0.25;fill=truths;layout=mask:transposed",
    "x=7x33;mask=7x33;value=0.5;fill=masked",
    "x=2x3x9;mask=3x1;value=-inf;fill=masked",
    "x=7x33;mask=7x33;value=0.5;fill=masked-special",
    "x=2x3x9;mask=3x1;value=-inf;fill=masked-special",
    "x=33,;mask=33,;value=0.0",
    "x=5x31;mask=5x31;value=-inf;fill=wide",
    "x=5x31;mask=31,;value=2.5;layout=x:transposed",
    "x=3x32;mask=3x1;value=-1.0;layout=offset",
    "x=2x3x4x7;mask=4x7;value=-inf;layout=permuted",
    "x=2x3x4x7;mask=2x1x1x7;value=0.5",
    "x=2x3x65;mask=2x3x65;value=0.0;layout=mask:transposed",
    "x=4x127;mask=4x127;value=-10000.0;fill=extreme",
    "x=3x33;mask=3x33;value=inf;layout=sliced",
    "x=4x128;mask=128,;value=-0.5;layout=gapped",
    "x=5x63;mask=5x63;value=1.0;layout=x:broadcast",
    "x=5x63;mask=5x63;value=1.0;layout=mask:broadcast",
    "x=2x257;mask=2x257;value=1.0;fill=zeros",
    "x=6x11;mask=6x11;value=0.0;fill=small",
    "x=66,;mask=66,;value=0.0;fill=special",
    "x=9x65;mask=9x65;value=0.0;fill=special;bf16",
    "x=1x1x7x1;mask=1x1x7x1;value=2.0",
    "x=3x0;mask=3x1;value=1.0",
    "x=5x1031;mask=5x1031;value=-inf",
    "x=7x33;mask=7x33;value=-inf;layout=mask:gapped",
    "x=2x3x4x7;mask=2x3x4x7;value=-1.5;layout=mask:permuted",
    "x=9x9;mask=9,;value=0.5",
    "x=2x2x3x4x2x5;mask=2x1x3x1x2x1;value=-1.5;f32;layout=permuted",
]
TYPED = typed(
    "float8 signed unsigned",
    "x=7x33;mask=7x33;value=3",
    "x=3x32;mask=3x1;value=0",
    "x=5x31;mask=31,;value=2;layout=x:transposed",
    "x=5x63;mask=5x63;value=1;layout=x:broadcast",
    "x=3x0;mask=3x1;value=1",
    *SMOKE,
    *STANDARD,
)
LAID = ["x=2x3x4;mask=2x3x4;value=0.5;layout=cropped", "x=5x3;mask=5x3;value=0.5;layout=mask:sliced"]
LONG, LONGEST = lengths("x={n}x2;mask={n}x1;value=0.5", "x=2x{n};mask=1x{n};value=-2.0", "x=1x{n};mask=1x{n};value=0.5")
FULL = ["x=2x12289;mask=12289,;value=-inf", "x=65537x3;mask=65537x1;value=0.0"]
