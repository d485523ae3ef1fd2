"""Cases of acosh: values of 1 (the domain's end) and above, close to it and large."""

from opproof.cases._rows.elementwise import elementwise, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

SMOKE = ["x=7x33"]
STANDARD = [*elementwise(drop=("least", "small")), "x=6x11;fill=small;f32,f16", "x=3x17;fill=offset;layout=sliced"]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
WITHOUT = {"least": "its domain begins at 1"}
