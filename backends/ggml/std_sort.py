"""The order in which libstdc++'s std::sort leaves indices that it is given a comparison for (bits/stl_algo.h).

It is no stable sort: equal elements come in the order of its partitions, and so does all else where a NaN is equal to
everything.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

SORTED_BY_INSERTION = 16  # elements


@functools.lru_cache(maxsize=256)
def sort_as_std(row: bytes, descending: bool) -> tuple[int, ...]:
    """Libstdc++'s std::sort (bits/stl_algo.h) of the indices 0, 1, ... of a row of float64. Raises IndexError."""
    data = np.frombuffer(row, np.float64)
    keys = (-data if descending else data).tolist()
    places = list(range(len(keys)))

    def less(a: int, b: int) -> bool:
        return bool(keys[a] < keys[b])

    _sort_parts(places, 0, len(places), 2 * max(len(places).bit_length() - 1, 0), less)
    if len(places) <= SORTED_BY_INSERTION:
        _insert(places, 1, len(places), less)
    else:
        _insert(places, 1, SORTED_BY_INSERTION, less)
        for i in range(SORTED_BY_INSERTION, len(places)):
            _insert_unguarded(places, i, less)
    return tuple(places)


def _sort_parts(places: list[int], first: int, last: int, depth: int, less: Any) -> None:
    """Partition around the median of three until no part has more than 16 elements."""
    while last - first > SORTED_BY_INSERTION:
        if not depth:
            raise IndexError("std::sort goes on as a heap sort here")
        depth -= 1
        _move_median_first(places, first, first + (last - first) // 2, last - 1, less)
        low, high, pivot = first + 1, last, places[first]
        while True:
            while less(places[low], pivot):
                low += 1
            high -= 1
            while less(pivot, places[high]):
                high -= 1
            if low >= high:
                break
            places[low], places[high] = places[high], places[low]
            low += 1
        _sort_parts(places, low, last, depth, less)
        last = low


def _move_median_first(places: list[int], first: int, middle: int, end: int, less: Any) -> None:
    a, b, c = first + 1, middle, end
    if less(places[a], places[b]):
        chosen = b if less(places[b], places[c]) else c if less(places[a], places[c]) else a
    else:
        chosen = a if less(places[a], places[c]) else c if less(places[b], places[c]) else b
    places[first], places[chosen] = places[chosen], places[first]


def _insert(places: list[int], begin: int, end: int, less: Any) -> None:
    for i in range(begin, end):
        if less(places[i], places[0]):
            places[: i + 1] = [places[i], *places[:i]]
        else:
            _insert_unguarded(places, i, less)


def _insert_unguarded(places: list[int], i: int, less: Any) -> None:
    value = places[i]
    while less(value, places[i - 1]):
        places[i] = places[i - 1]
        i -= 1
        if not i:
            raise IndexError("std::sort goes on before the row here")
    places[i] = value
