"""Cases of table: of 8 bits and of 16, every rank, every layout of both."""

from opproof.cases._rows.long import Limit, lengths

SMOKE = ["x=7x33;table=513,;f32", "x=7x33;table=256,;f32"]
STANDARD = [
    "x=66,;table=513,;f32",
    "x=5x31;table=513,;f32;layout=x:transposed",
    "x=5x31;table=513,;f32;layout=x:sliced",
    "x=5x32;table=513,;f32;layout=table:sliced",
    "x=4x33;table=513,;f32;layout=gapped",
    "x=4x128;table=513,;f32;layout=offset",
    "x=2x3x4x9;table=513,;f32;layout=permuted",
    "x=5x63;table=513,;f32;layout=x:broadcast",
    "x=5x31;table=256,;f32;layout=x:transposed",
    "x=2x3x65;table=256,;f32;layout=permuted",
    "x=5x32;table=256,;f32;layout=table:sliced",
    "x=5x63;table=256,;f32;layout=x:broadcast",
    "x=0x3;table=513,;f32",
    "x=0d;table=513,;f32",
    "x=5x1031;table=513,;f32",
    "x=5x1031;table=256,;f32",
    "x=257x263;table=513,;f32",
    "x=2x3x1x2x3x5;table=513,;f32;layout=permuted",
]
LAID = ["x=2x3x5x9;table=513,;f32;layout=cropped", "x=0d;table=256,;f32;layout=offset"]
LONG, LONGEST = lengths("x={n}x1;table=513,", "x=1x{n};table=256,", dtype="f32")
SHORT = {"table.0": Limit(513, "a table has 513 places, or 256")}
FULL = ["x=2x12289;table=513,;f32", "x=65537x3;table=256,;f32"]
