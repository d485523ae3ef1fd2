"""What was found: the record `Result` and its renderings. Everything is computed from results.jsonl."""

from opproof.reports._record import FAILED, VERDICTS, Evidence, Header, Input, Picture, Result, Worst
from opproof.reports._results import ResultsError, read_results, write_line

__all__ = [
    "FAILED",
    "VERDICTS",
    "Evidence",
    "Header",
    "Input",
    "Picture",
    "Result",
    "ResultsError",
    "Worst",
    "read_results",
    "write_line",
]
