"""Cases of logsumexp: saturated rows, rows of -inf, one axis and several, long rows."""

from opproof.cases._reduce import one_axis

SMOKE = [
    "x=7x33;dim=-1",
]
STANDARD = [
    *one_axis(concentrates=True, drop=("x=3x0", "fill=extreme", "fill=negative", "fill=small", "x=3x768")),
    "x=2x3x4x7;dim=(1,3);layout=permuted",
    "x=2x3x4x7;dim=(-1,0);keepdim=true;fill=wide",
    "x=3x5x9;dim=1;keepdim=true;layout=gapped",
    "x=4x9;dim=-1;fill=ties",
    "x=9x11;dim=-1;fill=negative",
    "x=9x33;dim=-1;fill=wide",
    "x=5x4;dim=-1;fill=constant",
    "x=9x33;dim=-1;fill=extreme;layout=sliced;f32",
]
FULL = [
    "x=2x12289;dim=-1",
    "x=65537x3;dim=-1",
]
