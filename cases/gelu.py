"""Cases of gelu: erf and tanh forms, saturation on both sides, large arguments."""

from opproof.cases._rows.elementwise import elementwise, every_value, full_elementwise
from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows

_PARAMS = ("approximate=none", "approximate=tanh")

SMOKE = ["x=7x33", "x=7x33;approximate=tanh"]
STANDARD = [*elementwise(_PARAMS), every_value(_PARAMS[1])]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise(_PARAMS[:1])
PAIRED = ["x=66x11;approximate=tanh;fill=branches;f64"]
