"""With what a run ends: one number for a shell, from the records alone."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from opproof.core.verdicts import OPEN, Verdict
from opproof.reports import Result
from opproof.reports._kinds import Kind, kind


class Exit(IntEnum):
    """Exit statuses. Of those that apply the first counts: 2, 1, 4, 3, 0."""

    PASSED = 0  # something passed, or failed as the ledger says, and nothing else failed
    FAILED = 1  # something failed that no ledger knows, a ledger is wrong, records were tampered with or are missing
    WRONG_CALL = 2  # or the results could not be written
    NO_EVIDENCE = 3  # nothing ran, or only what says nothing: UNSUPPORTED, MISTRUSTED, INCONCLUSIVE
    HARNESS_ERROR = 4  # opproof itself failed at some records


def status(results: Sequence[Result], complaints: Sequence[str] = (), *, missing: int = 0) -> Exit:
    """The exit status of records, of complaints about the run as a whole, and of planned records that are `missing`."""
    verdicts = {r.verdict for r in results}
    if complaints or missing or any(kind(r) is Kind.FAILED for r in results):
        return Exit.FAILED
    if Verdict.HARNESS_ERROR in verdicts:
        return Exit.HARNESS_ERROR
    return Exit.NO_EVIDENCE if verdicts <= {Verdict.UNSUPPORTED, *OPEN} else Exit.PASSED
