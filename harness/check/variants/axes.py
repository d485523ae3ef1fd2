"""The sizes of a call that vary by themselves: who is equal may be tied to the others, or stand alone.

Both sides are asked, at a size next to the given one. A size that only changes together with others in a relation to
it does so here too, and one that has to be a multiple of something stays one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from opproof.harness.check.tensors import CallTensor
from opproof.harness.check.variants.sizes import Place, find_batch, free_sizes, keep_relations, places_of, shapes_of
from opproof.harness.space.factors import SIZES

#: So many axes have other sizes: time is for pairs of few.
MAX_AXES = 5
#: The largest size of any class.
MAX_SIZE = max(map(max, SIZES.values()))

#: Whether both sides take tensors with these sizes, and the reference means the same.
Takes = Callable[[Mapping[Place, int]], bool]


@dataclass(frozen=True)
class SizeAxis:
    """Places that have one size, and may have others: multiples of `step` up to `most`."""

    text: str  # what is called, before "as"
    old: int
    places: tuple[Place, ...]
    step: int = 1
    most: int = MAX_SIZE
    square: bool = False  # work grows with its square
    related: Mapping[Place, int] = field(default_factory=dict)  # places of sizes in a relation to it, with these

    def resize(self, new: int) -> dict[Place, int]:
        """The sizes of its places, and of those in a relation to it; empty where these have none."""
        if not self.related:
            return dict.fromkeys(self.places, new)
        kept = keep_relations({self.old: new}, {self.old, *self.related.values()})
        return (
            {p: kept[n] for p, n in (dict.fromkeys(self.places, self.old) | {**self.related}).items()} if kept else {}
        )

    def list_levels(self) -> dict[str, list[int]]:
        """Its other sizes by class, each once."""
        seen, found = {self.old}, dict[str, list[int]]()
        for level, sizes in SIZES.items():
            for n in (-(-size // self.step) * self.step for size in sizes):
                if n <= self.most and n not in seen:
                    seen.add(n)
                    found.setdefault(level, []).append(n)
        return found


def find_axes(given: Sequence[CallTensor], named: frozenset[float], takes: Takes, *, by_shape: bool) -> list[SizeAxis]:
    """The axes whose sizes vary. `by_shape`: any size may be another."""
    shapes = shapes_of(given)
    sizes = [n for n in dict.fromkeys(n for s in shapes for n in s) if n > 1] if by_shape else free_sizes(given, named)
    batch = [] if by_shape else find_batch(shapes)
    found, tied = list[SizeAxis](), set[int]()
    for n in (*sizes, *batch):
        if n in tied or len(found) >= MAX_AXES:
            continue
        places = places_of(n, shapes)
        square = any(s.count(n) > 1 for s in shapes)
        parts = list(_part_places(places, shapes, n, takes)) if square else [(places, _find_step(n, places, takes))]
        for part, step in parts:
            if step:
                found.append(SizeAxis(_name_part(part, places, n, shapes, given), n, tuple(part), step))
        if not square and not parts[0][1] and (other := _find_related(n, places, shapes, takes)):
            found.append(other)
            tied |= {*other.related.values()}
    return [axis for axis in found if axis.old not in tied][:MAX_AXES]


def _find_step(n: int, places: Sequence[Place], takes: Takes) -> int:
    """The least step from a size to one that both sides take, a power of two that divides it or itself; 0 for none."""
    steps = [1 << k for k in range(n.bit_length()) if n % (1 << k) == 0]
    return next((step for step in dict.fromkeys((*steps, n)) if takes(dict.fromkeys(places, n + step))), 0)


def _part_places(
    places: Sequence[Place], shapes: Sequence[tuple[int, ...]], n: int, takes: Takes
) -> Iterator[tuple[list[Place], int]]:
    """The places of a size that squares have, in parts that vary alone: an axis of a shape, one place, two, the rest.

    Of a product of squares the rows of the first do, its columns do with the rows of the second.
    """
    groups: dict[tuple[tuple[int, ...], int], list[Place]] = {}
    for i, a in places:
        groups.setdefault((shapes[i], a), []).append((i, a))
    left = list[Place]()
    for group in groups.values():
        if step := _find_step(n, group, takes):
            yield group, step
        else:
            left += group
    for count in (1, 2):
        for some in combinations(left, count):
            if {*some} <= {*left} and (step := _find_step(n, some, takes)):
                left = [p for p in left if p not in some]
                yield sorted(some), step
    if left and (step := _find_step(n, left, takes)):
        yield left, step


def _find_related(n: int, places: Sequence[Place], shapes: Sequence[tuple[int, ...]], takes: Takes) -> SizeAxis | None:
    """The axis of a size that varies with those in a relation to it alone, as of half of it."""
    sizes = {m for s in shapes for m in s}
    for new in (n + 1, n + 2):
        kept = keep_relations({n: new}, sizes)
        related = {p: m for m in kept if m != n for p in places_of(m, shapes)}
        axis = SizeAxis(f"{n}", n, tuple(places), related=related)
        if related and takes(axis.resize(new)):
            return axis
    return None


def _name_part(
    part: Sequence[Place], places: Sequence[Place], n: int, shapes: Sequence[tuple[int, ...]],
    given: Sequence[CallTensor],
) -> str:  # fmt: skip
    """How a report calls some of the places of a size: by the first of them."""
    if len(part) == len(places):
        return f"{n}"
    (i, axis), *_ = part
    if list(part) == [(j, axis) for j, s in enumerate(shapes) if s == shapes[i]]:
        return f"axis {axis} of {'x'.join(map(str, shapes[i]))}"
    return f"axis {axis} of {given[i].name}"
