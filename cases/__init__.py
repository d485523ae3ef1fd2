"""What to try: shapes, parameters, dtypes, fills, layouts; every case has a stable, readable id.

One file per operator holds rows of text; `cases_of` reads them into `Case` records.
"""

from opproof.cases._case import Case
from opproof.cases._registry import DTYPES_BY_DEFAULT, LEVELS, cases_of, left_out, read_rows, short
from opproof.core.errors import CaseError

__all__ = ["DTYPES_BY_DEFAULT", "LEVELS", "Case", "CaseError", "cases_of", "left_out", "read_rows", "short"]
