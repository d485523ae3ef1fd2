"""Where results lie, when it is not in new memory row by row: what a case may ask and a backend may declare."""

from __future__ import annotations

from enum import StrEnum


class Destination(StrEnum):
    """What a backend can do beside writing results to memory of their own, row by row."""

    IN_PLACE = "in place"  # the result lies where an input does, a gradient where its output's cotangent does
    STRIDED = "strided"  # the result lies as the caller says, with gaps, or its axes in another order
