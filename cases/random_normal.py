"""Cases of random_normal: wide, narrow, beside 0, keys, every layout, long rows; and numbers given."""

from opproof.cases._rows.drawn_numbers import aligned_draws, drawn_rows, laid_draws, long_draws

SMOKE = ["x=33x65;key=7"]
STANDARD = drawn_rows("", ("mean=0.5;scale=0.5", "scale=0.5", "mean=0.5;scale=4.0"))
LAID = laid_draws("")
ALIGNED = aligned_draws("")
LONG, LONGEST = long_draws("")
FULL = ["x=1024x1024;key=1;f32"]
