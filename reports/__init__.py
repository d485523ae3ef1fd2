"""What was found: the record `Result` and its renderings. Everything is computed from results.jsonl."""

from opproof.core.errors import ResultsError
from opproof.reports._record import Coverage, Evidence, Header, Input, Picture, Result, StandardVerdict, Ulp, Worst
from opproof.reports._results import read_header, read_results, write_line

__all__ = [
    "Coverage",
    "Evidence",
    "Header",
    "Input",
    "Picture",
    "Result",
    "ResultsError",
    "StandardVerdict",
    "Ulp",
    "Worst",
    "read_header",
    "read_results",
    "write_line",
]
