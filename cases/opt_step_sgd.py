"""Cases of opt_step_sgd: rates and weight decays, zero and not, each input laid out in turn."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN

SMOKE = ["param=7x33;grad=7x33;lr=0.1;weight_decay=0.01"]
STANDARD = [
    "param=7x33;grad=7x33;lr=0.1;weight_decay=0.01;inplace=param",
    "param=3x2x65;grad=3x2x65;lr=0.1;weight_decay=0.01;layout=param:transposed;inplace=param",
    "param=9,;grad=9,;lr=0.5",
    "param=5x31;grad=5x31;lr=0.01;weight_decay=0.1;fill=wide",
    "param=3x32;grad=3x32;lr=1.5;weight_decay=0.5;layout=offset",
    "param=2x3x65;grad=2x3x65;lr=0.25;weight_decay=0.25;layout=param:transposed",
    "param=2x3x4x7;grad=2x3x4x7;lr=0.1;layout=permuted",
    "param=3x33;grad=3x33;lr=0.01;weight_decay=0.1;layout=grad:transposed",
    "param=4x127;grad=4x127;lr=1.5;weight_decay=0.5;layout=sliced",
    "param=4x128;grad=4x128;lr=0.25;weight_decay=0.25;layout=gapped",
    "param=5x63;grad=5x63;lr=0.1;layout=grad:broadcast",
    "param=2x257;grad=2x257;lr=0.01;weight_decay=0.1;fill=zeros",
    "param=6x11;grad=6x11;lr=1.5;weight_decay=0.5;fill=small",
    "param=6x11;grad=6x11;lr=0.25;weight_decay=0.25;fill=offset",
    "param=2x97;grad=2x97;lr=0.1;fill=negative",
    "param=1x1x97x1;grad=1x1x97x1;lr=0.5;weight_decay=0.1",
    "param=0d;grad=0d;lr=1.5;weight_decay=0.5",
    "param=3x0;grad=3x0;lr=0.25;weight_decay=0.25",
    "param=5x1031;grad=5x1031;lr=0.1",
    "param=127,;grad=127,;lr=0.5;weight_decay=0.1;fill=extreme",
    "param=66,;grad=66,;lr=0.5;fill=special",
    "param=7x33;grad=7x33;lr=0.1;weight_decay=0.01;layout=param:broadcast",
    f"param=5x131;grad=5x131;lr=0.5;weight_decay={8 * BETWEEN};f16,bf16",
]
LAID = ["param=2x3x4;grad=2x3x4;lr=0.1;layout=cropped", "param=0d;grad=0d;lr=0.1;layout=offset"]
LONG, LONGEST = lengths("param={n}x1;grad={n}x1;lr=0.1;weight_decay=0.1", "param=1x{n};grad=1x{n};lr=0.1")
FULL = ["param=2x12289;grad=2x12289;lr=0.1", "param=65537x3;grad=65537x3;lr=0.1"]
