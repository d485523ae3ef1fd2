"""An interval whose ends are among its numbers: what a domain says of targets, weights, gates and moments."""

from __future__ import annotations

from typing import NamedTuple


class Closed(NamedTuple):
    """From `low` to `high`, both of them included where they are finite; a plain pair leaves its ends out."""

    low: float
    high: float
