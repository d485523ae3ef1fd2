"""Cases of rms_norm_mul_add: eps that matters, rows past 1024 and 4096, a residual for every row or for all."""

from opproof.cases._rows.fused_norms import aligned_norm, long_norm, rows

_TENSORS = "x={s};weight={n};residual={s}"

SMOKE = ["x=7x33;weight=33,;residual=7x33"]
STANDARD = [
    *rows(_TENSORS),
    "x=5x31;weight=31,;residual=5x31;layout=residual:broadcast",
    "x=5x17;weight=17,;residual=17,",
    "x=2x3x9;weight=9,;residual=9,;layout=transposed",
    "x=5x17;weight=17,;residual=17,;needs=residual",
    "x=4099x3;weight=3,;residual=4099x3;fill=growing;f16,bf16",
    "x=9x9;weight=9,;residual=9,",
]
LAID = [
    "x=2x3x5x7;weight=7,;residual=2x3x5x7;layout=cropped",
    "x=33x1;weight=1,;residual=33x1;layout=weight:offset",
    "x=1,;weight=1,;residual=1,;eps=0.1;layout=offset",
    "x=3x1;weight=1,;residual=1,;layout=residual:offset",
]
ALIGNED = aligned_norm(_TENSORS)
LONG, LONGEST = long_norm(_TENSORS)
SHAPES = [
    "x=5x257;weight=257,;residual=257,;fill=outliers;f16",
    "x=1031x67;weight=67,;residual=1031x67;f32",
]
FULL = rows(_TENSORS, (("2x12289", ""), ("65537x3", "")))
