"""Cases of random_uniform: ranges about 0 and far from it, keys, every layout, long rows; and numbers given."""

from opproof.cases._rows.drawn_numbers import aligned_draws, drawn_rows, laid_draws, long_draws

SMOKE = ["x=33x65;key=7"]
STANDARD = drawn_rows("", ("low=0.0;high=0.0009765625", "low=-1024.0;high=8.0", "low=-2.0;high=6.0"))
LAID = laid_draws("")
ALIGNED = aligned_draws("")
LONG, LONGEST = long_draws("")
FULL = ["x=1024x1024;key=1;f32"]
