"""Places in a pool by value: numbers that are equal find the same noise there, as whoever computes them alike errs."""

from __future__ import annotations

from typing import Any

#: Size of a pool.
PLACES = 1 << 16
#: An odd number near 2^64 over the golden ratio, as a signed one: products by it spread neighbours (Knuth 6.4).
_FACTOR = -7046029254386353131
#: Last bits of float64 in which the same sum in another order differs.
_LOOSE = 8


def places_of(torch: Any, values: Any, salt: int) -> Any:
    """A place in 0 .. PLACES - 1 for every element of float64 `values`, another one for another `salt`."""
    bits = values.detach().double().contiguous().view(torch.int64)
    mixed = ((bits + (1 << _LOOSE >> 1) >> _LOOSE) + salt) * _FACTOR
    mixed = (mixed ^ (mixed >> 29)) * _FACTOR
    return (mixed >> 48) & (PLACES - 1)
