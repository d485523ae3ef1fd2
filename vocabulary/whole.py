"""Whole numbers that are the data of an operator, not places that it reads at: what a domain says of such a tensor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Whole:
    """int64 of `allowed` in a case of floats; in a case of whole numbers, numbers of its dtype.

    `places`: how far bits are moved, which is at least 0 and less than the dtype's bits.
    """

    allowed: range
    places: bool = False
