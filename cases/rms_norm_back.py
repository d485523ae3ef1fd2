"""Cases of rms_norm_back: eps that matters, small rows."""

from opproof.cases._rows.aligned import aligned_pairs
from opproof.cases._rows.backward import full, rows
from opproof.cases._rows.laid import laid_pairs
from opproof.cases._rows.long import long_pairs

SMOKE = ["grad=7x33;x=7x33"]
STANDARD = [
    "grad=9x33;x=9x33;eps=1e-12",
    "grad=9x65;x=9x65;fill=offset-1e3;f32",
    "grad=9x65;x=9x65;fill=offset-1e4;f32",
    *rows("grad", "x", ("", "eps=0.1", "eps=1e-05")),
    "grad=4x13;x=4x13;eps=0.1;fill=zeros",
    "grad=65x3;x=65x3;fill=special",
    "grad=2x1031;x=2x1031;bf16",
]
LAID = laid_pairs("grad", "x")
ALIGNED = aligned_pairs("grad", "x")
LONG, LONGEST = long_pairs("grad", "x")
SHAPES = [
    "grad=1031x67;x=1031x67;f32",
]
FULL = full("grad", "x")
WITHOUT = {"heavy": "its results are subnormal in f16"}
