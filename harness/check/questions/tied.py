"""Sizes that stand in a relation in the inputs given: one more or one less, twice as much or half of it.

A state has one place less than a window has taps, a gate twice as many columns as a value. Another size for one alone
may be refused, or mean something else: 12x1 taps beside a state of 12x3 are stretched. Such sizes are changed together
then. Two that are 4 and 8 by chance are changed alone as well, and judged where the answers have the same shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations

#: Less has no relation: an axis of 1 is one that is stretched.
_LEAST = 2
#: A size by another of which it is one more, one less, twice as much, or half; None where there is none such.
_RELATIONS: tuple[Callable[[int], int | None], ...] = (
    lambda n: n - 1,
    lambda n: n + 1,
    lambda n: 2 * n,
    lambda n: None if n % 2 else n // 2,
)


def tied(new: Mapping[int, int], sizes: Collection[int]) -> dict[int, int]:
    """The new sizes, and those of others among `sizes` that keep their relations to them; empty where none has one.

    Empty too where that would make two sizes one, or less than none. The new ones are one more where that keeps all
    relations, as those of a half, which an odd number has not.
    """
    more = (0, 1) if all(new.values()) else (0,)
    some = [made for k in more if (made := _along({n: m + k for n, m in new.items()}, sizes))]
    whole = (made for made in some if parted([tuple(sizes)], [tuple(made.get(n, n) for n in sizes)]) is None)
    return next(whole, some[0] if some else {})


def _along(new: Mapping[int, int], sizes: Collection[int]) -> dict[int, int]:
    made: dict[int, int] = {}
    for first, to in new.items():
        if first in made:
            continue
        made[first], left = to, [first]
        while left:
            n = left.pop()
            for relation in _RELATIONS:
                other, then = relation(n), relation(made[n])
                if other is None or other in made or other not in sizes or min(n, other) < _LEAST or then is None:
                    continue
                if then < 0:
                    return {}
                made[other] = then
                left.append(other)
    kept = {*sizes} - made.keys()
    apart = len({*made.values()}) == len(made) and not kept & {*made.values()}
    return made if apart and made != dict(new) else {}


def parted(given: Sequence[tuple[int, ...]], asked: Sequence[tuple[int, ...]]) -> tuple[int, int] | None:
    """Two sizes in a relation among the shapes given that have none among others, the larger first; None where all do.

    Shapes of as many axes each.
    """
    pairs = {(n, m) for a, b in zip(given, asked, strict=True) if len(a) == len(b) for n, m in zip(a, b, strict=True)}
    for (a, now), (b, then) in combinations(sorted(pairs, reverse=True), 2):
        if a == b or min(a, b) < _LEAST:
            continue
        held = [relation for relation in _RELATIONS if relation(a) == b]
        if held and not any(relation(now) == then for relation in held):
            return a, b
    return None
