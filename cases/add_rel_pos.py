"""Cases of add_rel_pos: square windows (all that ggml has), rows and columns unequal, queries unlike keys."""

from opproof.cases._rows.long import lengths

SMOKE = ["x=2x12x20;rel_w=2x3x4x5;rel_h=2x3x4x4"]
STANDARD = [
    "x=2x12x20;rel_w=2x3x4x5;rel_h=2x3x4x4;inplace=x",
    "x=2x12x20;rel_w=2x3x4x5;rel_h=2x3x4x4;layout=x:gapped;inplace=x",
    "x=1x1x1;rel_w=1x1x1x1;rel_h=1x1x1x1",
    "x=2x9x9;rel_w=2x3x3x3;rel_h=2x3x3x3;fill=wide",
    "x=3x16x16;rel_w=3x4x4x4;rel_h=3x4x4x4;layout=x:transposed",
    "x=2x6x35;rel_w=2x2x3x7;rel_h=2x2x3x5;layout=rel_w:transposed",
    "x=2x6x35;rel_w=2x3x2x5;rel_h=2x3x2x7;layout=rel_h:transposed",
    "x=3x8x6;rel_w=3x2x4x2;rel_h=3x2x4x3;layout=permuted",
    "x=2x4x33;rel_w=2x2x2x3;rel_h=2x2x2x11;layout=sliced",
    "x=2x4x65;rel_w=2x2x2x13;rel_h=2x2x2x5;layout=gapped",
    "x=2x4x63;rel_w=2x4x1x9;rel_h=2x4x1x7;layout=offset",
    "x=3x4x12;rel_w=3x2x2x4;rel_h=3x2x2x3;layout=rel_w:broadcast,rel_h:broadcast",
    "x=2x4x12;rel_w=2x2x2x4;rel_h=2x2x2x3;needs=rel_w",
    "x=2x4x12;rel_w=2x2x2x4;rel_h=2x2x2x3;needs=rel_h",
    "x=2x4x12;rel_w=2x2x2x4;rel_h=2x2x2x3;needs=x,rel_h",
    "x=2x4x12;rel_w=2x2x2x4;rel_h=2x2x2x3;fill=exact",
    "x=2x4x15;rel_w=2x2x2x3;rel_h=2x2x2x5;fill=signs;layout=x:sliced",
    "x=2x4x15;rel_w=2x2x2x3;rel_h=2x2x2x5;fill=extreme",
    "x=2x4x15;rel_w=2x2x2x3;rel_h=2x2x2x5;fill=zeros",
    "x=2x4x15;rel_w=2x2x2x3;rel_h=2x2x2x5;fill=special",
    "x=0x4x15;rel_w=0x2x2x3;rel_h=0x2x2x5",
    "x=1x2x1035;rel_w=1x1x2x9;rel_h=1x1x2x115",
    "x=2x6x1035;rel_w=2x3x2x9;rel_h=2x3x2x115;f16,bf16",
    "x=2x12x20;rel_w=2x3x4x5;rel_h=2x3x4x4;layout=x:broadcast",
]
LAID = [
    "x=2x12x20;rel_w=2x3x4x5;rel_h=2x3x4x4;layout=cropped",
    "x=1x1x1;rel_w=1x1x1x1;rel_h=1x1x1x1;layout=offset",
    "x=1x1x3;rel_w=1x1x1x1;rel_h=1x1x1x3;layout=rel_w:offset",
    "x=1x1x3;rel_w=1x1x1x3;rel_h=1x1x1x1;layout=rel_h:offset",
]
LONG, LONGEST = lengths(
    "x={n}x2x2;rel_w={n}x1x2x1;rel_h={n}x1x2x2",
    "!x=1x{n}x2;rel_w=1x{n}x1x1;rel_h=1x{n}x1x2",
    "x=1x{n}x2;rel_w=1x1x{n}x2;rel_h=1x1x{n}x1",
    "x=1x2x{n};rel_w=1x1x2x1;rel_h=1x1x2x{n}",
    "x=1x2x{n};rel_w=1x1x2x{n};rel_h=1x1x2x1",
)
FULL = ["x=1x1x12288;rel_w=1x1x1x96;rel_h=1x1x1x128", "x=1x65792x4;rel_w=1x257x256x2;rel_h=1x257x256x2"]
