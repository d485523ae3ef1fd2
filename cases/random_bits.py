"""Cases of random_bits: one bit to 32, keys, every layout, long rows; and numbers that are given."""

from opproof.cases._rows.drawn_numbers import aligned_draws, drawn_rows, laid_draws, long_draws

SMOKE = ["x=33x65;width=8;key=7"]
STANDARD = drawn_rows("width=8", ("width=1", "width=16", "width=32", "width=31"))
LAID = laid_draws("width=8")
ALIGNED = aligned_draws("width=8")
LONG, LONGEST = long_draws("width=8")
FULL = ["x=1024x1024;width=8;key=1;f32"]
