"""The comparison of two runs as a record: what became of each case, and which figures moved."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from opproof.reports._record import Result


class Change(StrEnum):
    """What became of a record of the new run since the baseline: the first of these that applies."""

    HARNESS_ERROR = "harness_error"  # opproof failed on it; of the backend nothing is known
    NEW_FAILING = "new_failing"  # not in the baseline, and fails unexpectedly
    NEW = "new"
    BROKEN = "broken"  # fails unexpectedly; did not fail, or as a known failure in another way or by much less
    LOST = "lost"  # passed, and now proves nothing: declined, or no evidence
    MENDED = "mended"  # failed, and does not now
    OTHER = "other"  # any other change of verdict
    GROWN = "grown"  # passes as before, and has the largest of errors that grew
    SAME = "same"


#: What a change is called, in every rendering and in this order.
TITLES = {
    Change.BROKEN: "newly failing",
    Change.LOST: "no longer proved",
    Change.NEW_FAILING: "new and failing",
    Change.GROWN: "larger errors",
    Change.HARNESS_ERROR: "opproof itself failed",
    Change.OTHER: "other changes of verdict",
    Change.MENDED: "no longer failing",
    Change.NEW: "new",
    Change.SAME: "as before",
}

#: The changes for the worse.
WORSE = (Change.BROKEN, Change.LOST, Change.NEW_FAILING, Change.GROWN)


@dataclass(frozen=True, slots=True)
class Changed:
    """One record of the new run, and the same case, mode and backend in the baseline."""

    before: Result | None
    after: Result
    change: Change


@dataclass(frozen=True, slots=True)
class Moved:
    """A figure that grew: the largest error of an operator, dtype and mode in units, or an operator's seconds."""

    what: str  # operator, dtype, mode, backend
    before: float
    after: float
    case: str = ""  # the one with the largest error now


@dataclass(frozen=True, slots=True)
class Changes:
    """All that differs."""

    records: tuple[Changed, ...]  # in the order of the new run
    vanished: tuple[Result, ...]
    grown: tuple[Moved, ...]  # one for each record that is Change.GROWN
    slower: tuple[Moved, ...]
    cut_short: int  # records planned that the new run does not have
    notes: tuple[str, ...]

    def of(self, change: Change) -> tuple[Changed, ...]:
        """The records that changed so."""
        return tuple(c for c in self.records if c.change is change)

    @property
    def compared(self) -> int:
        """How many records both runs have."""
        return sum(c.before is not None for c in self.records)

    @property
    def regressions(self) -> int:
        """How many things are worse; 0 when the new run may replace the old."""
        return sum(c.change in WORSE for c in self.records) + len(self.slower) + (self.cut_short > 0)
