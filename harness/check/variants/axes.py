"""The sizes of a call that vary by themselves; sizes one after the other; an axis longer than is counted in 16 bits.

Who is equal may be tied to the others, or stand alone. Both sides are asked, at a size next to the given one. A size
that only changes together with others in a relation to it does so here too, and one that has to be a multiple of
something stays one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, zip_longest

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.properties import find_whole_numbers
from opproof.harness.check.variants.sizes import (
    Place,
    Size,
    apply_size,
    find_batch,
    free_sizes,
    is_too_large,
    keep_relations,
    make_rare_size,
    places_of,
    shapes_of,
)
from opproof.harness.check.variants.variant import Pair, Variant, name_of
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


#: From the first that is no count of taps to past the usual tile of 128, integers of tiles as models have, and
#: sizes past usual limits that leave 3 of any tile. Not more: scores of 8,192 queries and keys fill gigabytes.
_SMALL_SIZES = range(4, 131)
_MODEL_SIZES = (*range(160, 513, 32), 576, 640, 768, 896, 960, 1024, 1152, 1280, 1536, 1792, 2048, 2560, 3072, 4096)
_SIZES_PAST_LIMITS, _SIZES_BEFORE_LIMITS = (1283, 2051, 4099), 40
#: Before all: more than one tile or chunk of 64, 128 and 256, of which a slow reference leaves no time to judge many.
_SIZES_PAST_CHUNKS = (147, 291)
#: A step that meets all of them, and one for each axis that gets another size together with the others.
_SIZE_STRIDE, _SIZE_STRIDES_TOGETHER = 53, (17, 29, 41, 59)
#: So many axes' sizes, and so many numbers beside tensors; so many times all sizes together.
_MAX_SWEPT_AXES = 4
_MAX_SWEPT_NUMBERS = 3
_SIZES_TOGETHER = 96
#: Sizes together are less than this, so that small ones meet each other.
_MAX_SIZE_TOGETHER = 36
#: Less is an axis, a step, a switch.
_MIN_SWEPT_NUMBER = 5


def generate_swept_sizes(given: Sequence[CallTensor], named: frozenset[float]) -> Iterator[Size]:
    """Every size of a few axes, by turns, and others of all axes together."""
    shapes, found = shapes_of(given), free_sizes(given, named)[:_MAX_SWEPT_AXES]
    used = {n for s in shapes for n in s}
    first, rest = _order()[:_SIZES_BEFORE_LIMITS], _order()[_SIZES_BEFORE_LIMITS:]
    others = [m for m in (*_SIZES_PAST_CHUNKS, *first, *_SIZES_PAST_LIMITS, *rest, *_MODEL_SIZES) if m not in used]
    places = {n: places_of(n, shapes) for n in found}
    along = [[make_rare_size({n: m}, places) for m in others] for n in found]
    if len(found) > 1:
        along.append(
            [
                make_rare_size(dict(zip(found, _choose_sizes_together(i), strict=False)), places)
                for i in range(_SIZES_TOGETHER)
            ]
        )
    some = filter(None, chain.from_iterable(zip_longest(*along)))
    return (size for size in some if not is_too_large(shapes, size.new))


def generate_swept_numbers(pair: Pair, rest: Sequence[object], names: Sequence[str]) -> Iterator[Variant]:
    """Every integer up to twice a given one, where no tensor holds integers, whose largest it may be."""
    if not all(t.kind for t in pair[0]):
        return
    places = [i for i, v in enumerate(rest) if type(v) is int and v >= _MIN_SWEPT_NUMBER][:_MAX_SWEPT_NUMBERS]
    along = []
    for i in places:
        value = rest[i]
        assert isinstance(value, int)
        name = name_of(names, i)
        some = [m for m in _order() if _MIN_SWEPT_NUMBER <= m <= 2 * value and m != value]
        along.append([(f"{name} as {m}", (*rest[:i], m, *rest[i + 1 :])) for m in some])
    for text, other in filter(None, chain.from_iterable(zip_longest(*along))):
        yield Variant(text, text.replace(" ", "-"), CONTIGUOUS, *pair, rest=other, rare=True)


def _choose_sizes_together(i: int) -> list[int]:
    """The i-th sizes of all axes, each in steps of its own."""
    return [_SMALL_SIZES[i * step % (_MAX_SIZE_TOGETHER - _SMALL_SIZES.start)] for step in _SIZE_STRIDES_TOGETHER]


def _order() -> list[int]:
    """All of them, those of neighbours far apart: where time ends, those that are left are not all the larger."""
    return [_SMALL_SIZES[i * _SIZE_STRIDE % len(_SMALL_SIZES)] for i in range(len(_SMALL_SIZES))]


#: Past 2^16, 2^14 and 2^13, and 3 past whole tiles.
LONG_AXIS_SIZES = (66051, 16387, 8195)
#: What other axes are where they would make too many elements, and so many there may be.
_SHRUNK_SIZE = 5
_MAX_ELEMENTS = 1 << 21
#: So many axes.
_MAX_LONG_AXES = 4
#: Numbers that reach less far into an axis do not point to its places.
_MIN_REACH_SHARE = 0.5

#: The size at which one axis is so long.
At = Callable[[int], Size]


def generate_long_axes(
    given: Sequence[CallTensor], named: frozenset[float]
) -> Iterator[tuple[int, list[tuple[int, At]]]]:
    """Each axis, its new lengths, the longest first, and the sizes around each: others stay, or shrink."""
    shapes, found = shapes_of(given), free_sizes(given, named)[:_MAX_LONG_AXES]
    places = {n: places_of(n, shapes) for n in found}
    for n in found:
        small = {o: _SHRUNK_SIZE for o in found if o not in (n, _SHRUNK_SIZE)}
        ways = [partial(_make_size, n, rest, places) for rest in ({}, *([small] if small else []))]
        yield (
            n,
            [
                (m, at)
                for m in LONG_AXIS_SIZES
                for at in ways
                if sum(map(math.prod, apply_size(shapes, at(m)))) <= _MAX_ELEMENTS
            ],
        )


def _make_size(old: int, rest: Mapping[int, int], places: Mapping[int, Sequence[tuple[int, int]]], new: int) -> Size:
    """The size with `new` in place of `old`, and `rest` in place of others."""
    return make_rare_size({old: new, **rest}, places)


def to_the_end(variant: Variant, given: Sequence[CallTensor], old: int, new: int) -> Variant | None:
    """With integers that point to places of an axis of `old` spread over its `new` ones; None where none do."""
    spread = [i for i in find_whole_numbers(given) if _points_to(given[i], old)]
    if not spread:
        return None
    asked, other = (
        tuple(t.holding(_extend_values(t, old, new)) if i in spread else t for i, t in enumerate(some))
        for some in (variant.case_data, variant.decoy_data)
    )
    name = f"{variant.name}, {' and '.join(given[i].name for i in spread)} up to its end"
    return replace(variant, name=name, case_data=asked, decoy_data=other, group="")


def _points_to(tensor: CallTensor, size: int) -> bool:
    """Whether its largest number may be a place of an axis, or its end, and is in the further half."""
    most = int(tensor.values.max(initial=0))
    return _MIN_REACH_SHARE * size <= most <= size and np.iinfo(tensor.values.dtype).max >= max(LONG_AXIS_SIZES)


def _extend_values(tensor: CallTensor, old: int, new: int) -> Array:
    """In the same order; what is negative, as a label that is left out, stays."""
    values = tensor.values
    wide = values.astype(np.int64)
    return np.asarray(np.where(wide > 0, wide * new // old, wide).astype(values.dtype))
