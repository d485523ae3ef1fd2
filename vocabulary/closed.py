"""An interval whose ends are among its numbers: what a domain says of targets, weights, gates and moments."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Closed:
    """From `low` to `high`, both of them included where they are finite; a plain pair leaves its ends out.

    `usual` is the pair in which what does not sit on ends is drawn, where it is another one.
    """

    low: float
    high: float
    usual: tuple[float, float] | None = None

    @property
    def within(self) -> tuple[float, float]:
        """Where ordinary numbers are drawn."""
        return (self.low, self.high) if self.usual is None else self.usual
