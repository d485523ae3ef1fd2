"""The comparison of two runs as a record: what became of each case, and which figures moved."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import msgspec

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
    GROWN = "grown"  # passes as before, and has the largest of errors that grew together
    SAME = "same"


class Figure(StrEnum):
    """What can grow."""

    UNITS = "units"  # the largest error of an element, a share of its limit
    RMS = "RMS"  # the largest of an array, in units
    BIAS = "bias"  # the largest in size of an array, in units


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


class Changed(msgspec.Struct, frozen=True, gc=False):  # there are hundreds of thousands: half the time of a dataclass
    """One record of the new run, and the same case, mode and backend in the baseline."""

    before: Result | None
    after: Result
    change: Change


@dataclass(frozen=True, slots=True)
class Moved:
    """A figure that grew, of an operator, dtype and mode."""

    what: str  # operator, dtype, mode, backend
    figure: Figure
    before: float
    after: float
    limits: tuple[float | None, float | None] = (None, None)  # units allowed where the largest error was, and is
    case: str = ""  # the one with the largest figure now

    @property
    def times(self) -> float | None:
        """How many times larger it is, as a share of its limit where that is known; None where it was nothing."""
        was, now = (limit or 1.0 for limit in self.limits)
        return abs(self.after / self.before) * (was / now) if self.before else None


@dataclass(frozen=True, slots=True)
class Changes:
    """All that differs."""

    records: tuple[Changed, ...]  # in the order of the new run
    vanished: tuple[Result, ...]
    grown: tuple[Moved, ...]  # the figures that grew; of those of one operator, dtype and mode a record is Change.GROWN
    cut_short: int  # records planned that the new run does not have
    notes: tuple[str, ...]
    conditions: str = ""  # what differs between those under which the runs were made, in one line

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
        return sum(c.change in WORSE for c in self.records) + (self.cut_short > 0)
