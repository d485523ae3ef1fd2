"""Cases of bernoulli: probabilities of all sizes, 0 and 1 too, keys, every layout, long rows; and draws given."""

from opproof.cases._rows.drawn_numbers import aligned_draws, drawn_rows, laid_draws, long_draws

SMOKE = ["x=33x65;key=7"]
STANDARD = [
    *drawn_rows("", ("fill=brink", "fill=wide", "fill=truths"), drop=("special", "f32;layout")),
    "x=2x3x1x2x3x5;f32;layout=permuted;key=60",
]
LAID = laid_draws("")
ALIGNED = aligned_draws("")
LONG, LONGEST = long_draws("")
FULL = ["x=1024x1024;key=1;f32"]
WITHOUT = {"NaN, inf": "there is no such probability"}
