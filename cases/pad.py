"""Cases of pad: unequal on both sides, each mode, values other than 0, negative numbers, several axes."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = ["x=4x33;pad=(1,2)", "x=3x4x9;pad=(2,3);mode=reflect"]
STANDARD = [
    "x=9,;pad=(2,0)",
    "x=5x31;pad=(0,3);value=1.5",
    "x=5x31;pad=(1,2,3,0);value=-2.0;layout=transposed",
    "x=2x3x65;pad=(0,0,1,2);layout=offset",
    "x=2x3x4x7;pad=(1,0,0,2,3,1);layout=permuted",
    "x=2x3x4x5;pad=(1,2,3,4,0,1,2,0);layout=sliced",
    "x=3x33;pad=(-2,1);layout=gapped",
    "x=6x33;pad=(-1,-3,2,-1)",
    "x=5x63;pad=(3,1);layout=broadcast",
    "x=3x22;pad=(1,2);value=inf",
    "x=3x22;pad=(1,2);fill=special",
    "x=3x0;pad=(2,1);value=0.5",
    "x=2x3x9;pad=(3,1);mode=reflect;layout=transposed",
    "x=2x3x5x7;pad=(4,2,1,3);mode=reflect;layout=permuted",
    "x=2x3x9;pad=(1,12);mode=replicate;layout=sliced",
    "x=2x3x5x7;pad=(0,2,3,1);mode=replicate",
    "x=2x2x3x4x5;pad=(1,2,0,3,2,1);mode=replicate",
    "x=2x3x9;pad=(4,7);mode=circular;layout=gapped",
    "x=2x3x5x7;pad=(3,1,0,2);mode=circular;layout=transposed",
    "x=2x2x3x4x5;pad=(1,2,0,3,2,1);mode=circular",
    "x=2x3x7;pad=(2,1);mode=reflect;fill=exact",
    "x=2x3x7;pad=(2,1);fill=exact;value=3.0",
    "x=2x3x5x4;pad=(2,1,1,3);mode=circular;fill=exact",
    "x=2x1031;pad=(1,3)",
    "x=3x97;pad=(3,5);mode=circular",
    "x=1x2x517;pad=(516,516);mode=reflect;f16,bf16",
    "x=3x22;pad=(1,2);fill=extreme",
]
TYPED = typed(
    "float8 signed unsigned",
    "x=4x33;pad=(1,2);value=3",
    "x=4x64;pad=(0,3)",
    "x=2x3x4x7;pad=(1,0,0,2,3,1);layout=permuted",
    "x=2x3x9;pad=(2,3);mode=reflect",
    "x=3x0;pad=(2,1);value=5",
    *SMOKE,
    *STANDARD,
)
LAID = ["x=2x5x4;pad=(1,2);layout=cropped"]
LONG, LONGEST = lengths("x={n}x2;pad=(1,2)", "x=2x{n};pad=(0,0,1,2)", "x={n}x1;pad=(0,0,2,1)", "x=1x{n};pad=(3,2)")
SHAPES = [
    "x=5x9;pad=(33,33);mode=replicate;fill=spread;f32",
    "x=4x4x4;pad=(0,0,1,0)",
]
FULL = ["x=2x12289;pad=(1,2)", "x=65537x2;pad=(1,0)", "x=2x3x12289;pad=(3,4);mode=reflect"]
PAIRED = [
    "x=2x3x9;pad=(1,2);mode=constant;value=1.5",
    "x=2x3x5x7;pad=(3,0,0,2);mode=reflect",
    "x=2x3x5x7;pad=(0,2,1,0);mode=reflect",
    "x=2x3x5x7;pad=(-2,3,1,-1);mode=reflect",
    "x=2x3x5x7;pad=(3,0,0,2);mode=replicate",
    "x=2x3x5x7;pad=(0,2,1,0);mode=replicate",
    "x=2x3x5x7;pad=(-2,3,1,-1);mode=replicate",
    "x=2x3x5x7;pad=(3,0,0,2);mode=circular",
    "x=2x3x5x7;pad=(0,2,1,0);mode=circular",
    "x=2x3x5x7;pad=(-2,3,1,-1);mode=circular",
]
