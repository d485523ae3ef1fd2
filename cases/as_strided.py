"""Cases of as_strided: rows apart, transposed views, windows and rows that overlap, stride 0, elements never shown."""

from opproof.cases._rows.long import lengths
from opproof.cases._rows.typed import typed

SMOKE = [
    "x=7x33;size=(5,4);stride=(33,2);storage_offset=3",
]
STANDARD = [
    "x=9,;size=(3,3);stride=(3,1)",
    "x=5x31;size=(31,5);stride=(1,31)",
    "x=5x31;size=(4,7);stride=(20,3);storage_offset=11;layout=transposed",
    "x=33,;size=(31,3);stride=(1,1)",
    "x=33,;size=(15,4);stride=(2,1);storage_offset=1;layout=sliced",
    "x=3x32;size=(2,3,4);stride=(32,8,2);layout=offset",
    "x=2x3x4x7;size=(7,4,3);stride=(1,7,28);storage_offset=84;layout=permuted",
    "x=2x3x4x7;size=(2,2,2,2);stride=(84,28,14,3);layout=transposed",
    "x=4x17;size=(4,5);stride=(0,3)",
    "x=4x17;size=(3,4,2);stride=(17,0,1);layout=gapped",
    "x=5x63;size=(5,9);stride=(63,7);layout=broadcast",
    "x=5x7;size=(3,4);stride=(4,2);storage_offset=3",
    "x=40,;size=(3,3,4);stride=(5,4,1)",
    "x=6x11;size=();stride=();storage_offset=13",
    "x=6x22;size=(6,2);stride=(22,9);fill=special",
    "x=6x9;size=(9,5);stride=(5,1);fill=exact",
    "x=65,;size=(63,3);stride=(1,1);fill=signs",
    "x=3x97;size=(3,9);stride=(97,11);fill=extreme",
    "x=2x1031;size=(1031,2);stride=(1,1031)",
    "x=9x131;size=(9,67);stride=(131,1);storage_offset=60",
    "x=0x3;size=(0,2);stride=(3,1)",
    "x=4x17;size=(4099,5);stride=(0,3);f16,bf16",
    "x=1040,;size=(4,1031);stride=(3,1);f16,bf16",
    "x=4x17;size=(4,5);stride=(0,3);storage_offset=7",
]
TYPED = typed("float8 signed unsigned", *SMOKE, *STANDARD)
LAID = ["x=2x3x4;size=(4,5);stride=(1,4);layout=cropped", "x=1,;size=(3,2);stride=(0,0);layout=offset"]
LONG, LONGEST = lengths("x={n}x2;size=(3,2);stride=(2,1);storage_offset=1", "x=2x{n};size=(2,{n});stride=(1,1)")
FULL = [
    "x=2x12289;size=(12289,2);stride=(1,12289)",
    "x=65537x3;size=(65537);stride=(3)",
]
