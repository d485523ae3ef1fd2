"""How much of what there is a run tries: what it may conclude from what it did not see."""

from __future__ import annotations

from enum import IntEnum

from opproof.core.verdicts import EXHAUSTIVE, MODES
from opproof.harness.run.plan import Selection


class Extent(IntEnum):
    """From least to most."""

    PART = 0  # some cases of an operator
    OPERATORS = 1  # of the operators that are tried every case
    ALL = 2  # every case of a level that ledgers are written for


def extent(selection: Selection) -> Extent:
    """What the selection tries."""
    if (
        selection.keyword
        or selection.dtypes
        or selection.cases
        or selection.case_files
        or selection.shard
        or selection.level in ("smoke", EXHAUSTIVE)
    ):
        return Extent.PART
    return Extent.OPERATORS if selection.ops or selection.modes != MODES else Extent.ALL
