"""Sizes of some tensors alone, that others share in every draw: a latent's rank that is as large as a head.

Most references take none of these. What a candidate gives there is told, for it may be made for one size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import TypeAlias

#: Tensor and axis.
Place: TypeAlias = tuple[int, int]
#: What is tried, in words, and the new sizes.
Change: TypeAlias = tuple[str, Mapping[Place, int]]

#: So many of each kind.
_MOST = 18
#: Axes of one size from which two may be another: of three, two are as well as the third alone.
_AXES = 4


def as_1(names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> Iterator[Change]:
    """A size of one tensor as 1, where another has it along an axis too: a bias that all of a batch have."""
    some = [(i, a, n) for i, s in enumerate(shapes) for a, n in enumerate(s) if n > 1]
    shared = ((i, a) for i, a, n in some if len(shapes[i]) > 1 and any(n in s for j, s in enumerate(shapes) if j != i))
    return ((f"axis {a} of {names[i]} as 1", {(i, a): 1}) for i, a in islice(shared, _MOST))


def of_one(
    names: Sequence[str], places: Mapping[int, Sequence[Place]], ragged: Callable[[int], Sequence[int]]
) -> Iterator[Change]:
    """A size of one tensor, where several have it."""

    def every() -> Iterator[Change]:
        for n in places:
            holders = dict.fromkeys(i for i, _ in places[n])
            for i, m in product(holders, [*ragged(n)[:1], n // 2 + 1, 2 * n]) if len(holders) > 1 else ():
                yield f"{n} of {names[i]} as {m}", {(i, a): m for j, a in places[n] if j == i}

    return islice(every(), _MOST)


def of_two(
    names: Sequence[str], places: Mapping[int, Sequence[Place]], ragged: Callable[[int], Sequence[int]]
) -> Iterator[Change]:
    """A size along an axis of each of two tensors, where others have it too."""

    def every() -> Iterator[Change]:
        for n in places:
            for one, two in combinations(places[n], 2) if len(places[n]) >= _AXES else ():
                halves = len(places[n]) == _AXES and places[n][0] not in (one, two)  # the other two were tried
                for m in ragged(n)[:1] if one[0] != two[0] and not halves else ():
                    said = " and ".join(f"axis {a} of {names[i]}" for i, a in (one, two))
                    yield f"{said} as {m}", {one: m, two: m}

    return islice(every(), _MOST)
