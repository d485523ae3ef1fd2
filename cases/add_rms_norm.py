"""Cases of add_rms_norm: eps that matters, rows past 1024 and 4096, sums that cancel, each tensor laid out in turn."""

from opproof.cases._rows.fused_norms import aligned_norm, long_norm, rows

_TENSORS = "x={s};residual={s};weight={n}"

SMOKE = ["x=7x33;residual=7x33;weight=33,"]
STANDARD = [
    *rows(_TENSORS),
    "x=7x33;residual=7x33;weight=33,;inplace=residual",
    "x=5x31;residual=5x31;weight=31,;layout=residual:broadcast",
    "x=4099x3;residual=4099x3;weight=3,;fill=growing;f16,bf16",
]
LAID = [
    "x=2x3x5x7;residual=2x3x5x7;weight=7,;layout=cropped",
    "x=33x1;residual=33x1;weight=1,;layout=weight:offset",
    "x=1,;residual=1,;weight=1,;eps=0.1;layout=offset",
]
ALIGNED = aligned_norm(_TENSORS)
LONG, LONGEST = long_norm(_TENSORS)
SHAPES = [
    "x=5x257;residual=5x257;weight=257,;fill=outliers;f16",
    "x=1031x67;residual=1031x67;weight=67,;f32",
]
FULL = rows(_TENSORS, (("2x12289", ""), ("65537x3", "")))
