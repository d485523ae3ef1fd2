"""Other sizes of tensors that a factory makes, of all or of some alone, and its draws brought to them.

A kernel whose last tile is wrong is right at multiples of its tile, and a factory gives these. Left as they are: sizes
that the reference or an argument names, the taps of a convolution, and those that tensors hold together by values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice, pairwise, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from opproof.harness.check.tensors import CallTensor
from opproof.harness.check.variants.properties import (
    find_doubled_sizes,
    find_pointed_sizes,
    find_unmarked_value,
    varies,
)

#: Even sizes below are too few to say anything of tiles; odd ones are taps.
_MIN_EVEN_SIZE = 4
_MIN_ODD_SIZE = 9
#: Less counts heads or taps.
_MIN_TILED_SIZE = 8
#: Sizes in place of n that are clearly larger: past the next power of two, aligned ones, past the usual tiles.
LARGER: tuple[Callable[[int], int], ...] = (
    lambda n: (1 << n.bit_length()) + 5,  # so many are left of each usual tile, of which ragged sizes leave 1
    lambda n: 16 * (-(-n // 16) + 1),
    lambda n: 270 if n <= 256 else n,  # 14 are left; whole groups of 2, 3 and 5
    lambda n: 384 if n <= 256 else n,  # whole tiles of 128, of which fast paths are
    lambda n: 1100 if n <= 1024 else n,
    lambda n: 4200 if n <= 4096 else n,  # more than so many programs have whole tiles of
)
#: Those in place of one axis of several that are equal.
_LARGER_ALONE = (LARGER[0], LARGER[2])
#: All sizes together past a usual tile, and past a larger one, each by so much more than the one before.
_SIZES_PAST_TILES, _SIZE_STEP = (65, 131), 2
#: Less than a window, a state or a tap has: what is kept of the call before reaches past what is new.
SIZES_BELOW_WINDOWS = (2, 3)
#: In place of a batch of 2: a kernel may do the first few.
_LARGE_BATCH = 9
#: So many sizes are made as others are.
_MAX_ALIKE_SIZES = 3
#: Integers that a reference names, as a window's or a block's length: a size is made one of them, and one more.
_NAMED_SIZES = range(4, 257)
#: So many such sizes.
_MAX_SIZES_ABOUT_NAMED = 6
#: A larger size has so many elements at most, or so many times those given.
MAX_ELEMENTS = 1_100_000
_MAX_GROWTH = 4
#: The root of 4 is 2, which says nothing, as 4 - 1 does; that of 64 in a reference is the scale of its scores.
_MIN_DERIVED_SIZE = 16


@dataclass(frozen=True)
class Size:
    """Axes that get other sizes, by tensor and axis.

    Of one group the first is enough that the reference takes, and none where it took one of `unless`.
    """

    name: str
    group: str
    new: Mapping[tuple[int, int], int]
    unless: str = ""
    shaped: bool = False  # its name says the shape, which a draw then has to have
    late: bool = False  # tried after other values
    rare: bool = False  # that who is asked does not take it is no news
    apart: bool = False  # of some tensors alone, as of queries that are no longer as many as keys
    stretched: bool = False  # it is one that the reference is to stretch
    instead: str = ""  # the size that makes it needless where that one is judged


def list_sizes(tensors: Sequence[CallTensor], named: frozenset[float], *, parted: bool = False) -> list[Size]:
    """What to try: every size ragged, all at once or else each; what one shape has twice, along one axis; sizes of 1.

    Sizes of 1 where nothing but numbers is given: no label points past them. `parted`: and sizes of some tensors alone.
    """
    shapes = shapes_of(tensors)
    found = free_sizes(tensors, named)
    places = {n: places_of(n, shapes) for n in (1, *found)}
    used = {n for s in shapes for n in s}
    fixed = _find_held_sizes(tensors) | {n for n in used if _is_named(n, named)}

    def ragged(n: int) -> list[int]:
        return [m for m in ((n + 1, n + 2) if n % 2 == 0 else (n + 2, n + 1)) if m not in used]

    some = [n for n in found if ragged(n)]
    both = [{n: ragged(n)[pick] for n in some} for pick in (0, -1)] if len(some) > 1 else []
    made = [Size(text_of(new), "together", _at(places, new)) for new in both]
    made += [Size(f"{n} as {m}", f"{n}", dict.fromkeys(places[n], m), "together") for n in found for m in ragged(n)]
    made += [Size(text_of(new), "share", _at(places, new), "together") for new in _in_proportion(found) if len(new) > 1]
    for shape in dict.fromkeys(s for s in shapes if any(s.count(n) > 1 for n in found)):
        n = next(n for n in found if shape.count(n) > 1)
        for axis in [a for a, m in enumerate(shape) if m == n][::-1]:  # a square is made tall, and wide
            alone = [(i, axis) for i, s in enumerate(shapes) if s == shape]
            text = "x".join(map(str, shape))
            group = f"axis {axis} of {text}"
            made += [
                Size(f"axis {axis} of {text} as {m}", group, dict.fromkeys(alone, m), shaped=True) for m in ragged(n)
            ]
            for larger in _LARGER_ALONE:
                name, new = f"axis {axis} of {text} as {larger(n)}", dict.fromkeys(alone, larger(n))
                made.append(Size(name, name, new, shaped=True, late=True, rare=True))
    if all(t.kind and not t.marks for t in tensors if not t.param):
        made += [Size(f"{n} as 1", f"{n} as 1", dict.fromkeys(places[n], 1), late=True) for n in found if 1 not in used]
        news = [(1, 2)] if 1 in used else []
        news += make_alike_sizes(found)
        news += [(n, m) for n in found for m in SIZES_BELOW_WINDOWS if m < n and m not in used]
        news += [(n, n + 1) for n in found if n % 2 == 0 and {n // 2, n // 2 + 1} & used]  # as many a spectrum has
        news += _list_about_named(found, used, named)
        made += [make_rare_size({n: m}, places) for n, m in news]
        made += _list_parted([t.name for t in tensors], shapes, {n: places[n] for n in found}, ragged) if parted else []
        made += [make_rare_size({n: _LARGE_BATCH}, {n: places_of(n, shapes)}) for n in find_batch(shapes)]
    made += [s for s in _list_larger(found, used, places) if not is_too_large(shapes, s.new)]
    return [*chain.from_iterable((s, *_add_related(s, shapes, fixed)) for s in made)]


def list_given_sizes(tensors: Sequence[CallTensor], pairs: Sequence[tuple[int, int]]) -> list[Size]:
    """Sizes as others that somebody names, those for which there is time."""
    shapes = shapes_of(tensors)
    made = [Size(f"{n} as {m}", f"{n} as {m}", dict.fromkeys(places_of(n, shapes), m)) for n, m in pairs]
    return [size for size in made if not is_too_large(shapes, size.new)]


def _add_related(size: Size, shapes: Sequence[tuple[int, ...]], fixed: Collection[int]) -> list[Size]:
    """The size with those that stand in a relation to its own, tried where nobody takes it alone."""
    new = {shapes[i][a]: m for (i, a), m in size.new.items()}
    if any(len(places_of(n, shapes)) != sum(shapes[i][a] == n for i, a in size.new) for n in new):
        return []  # of some tensors or axes alone
    together = keep_relations(new, {n for s in shapes for n in s} - {*fixed})
    places = {n: places_of(n, shapes) for n in together}
    one = replace(size, name=text_of(together), new=_at(places, together), rare=True, instead=size.name)
    return [one] if together and not is_too_large(shapes, one.new) else []


def shapes_of(tensors: Sequence[CallTensor]) -> list[tuple[int, ...]]:
    """Of all that are no parameters, whose shapes are the module's."""
    return [() if t.param else t.shape for t in tensors]


def free_sizes(tensors: Sequence[CallTensor], named: frozenset[float]) -> list[int]:
    """Those that may be others, each once."""
    left = _find_held_sizes(tensors)
    return [
        n
        for n in dict.fromkeys(n for s in shapes_of(tensors) for n in s)
        if n not in left and n >= (_MIN_EVEN_SIZE if n % 2 == 0 else _MIN_ODD_SIZE) and not _is_named(n, named)
    ]


def _find_held_sizes(tensors: Sequence[CallTensor]) -> set[int]:
    return {n for t in tensors if not t.param for n in (*find_pointed_sizes(t), *find_doubled_sizes(t))}


def places_of(n: int, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """By tensor and axis, where a size is."""
    return [(i, a) for i, s in enumerate(shapes) for a, m in enumerate(s) if m == n]


def find_batch(shapes: Sequence[tuple[int, ...]]) -> list[int]:
    """A batch of 2, which is a first axis wherever it is; 3 might be taps."""
    places = places_of(2, shapes)
    return [2] if all(a == 0 for _, a in places) and any(s[:1] == (2,) and len(s) > 1 for s in shapes) else []


def make_alike_sizes(found: Sequence[int]) -> list[tuple[int, int]]:
    """The larger and the smaller of neighbours among sizes: who tells an axis by its size takes another of squares."""
    return [(max(pair), min(pair)) for pair in pairwise(found)][:_MAX_ALIKE_SIZES]


def _list_parted(
    names: Sequence[str],
    shapes: Sequence[tuple[int, ...]],
    places: Mapping[int, Sequence[tuple[int, int]]],
    ragged: Callable[[int], Sequence[int]],
) -> list[Size]:
    ones = as_1(names, shapes)
    stretched = [Size(text, text, new, late=True, rare=True, apart=True, stretched=True) for text, new in ones]
    others = chain(of_one(names, places, ragged), of_two(names, places, ragged))
    return stretched + [Size(text, text, new, late=True, rare=True, apart=True) for text, new in others]


def _list_about_named(found: Sequence[int], used: set[int], named: frozenset[float]) -> list[tuple[int, int]]:
    """Sizes at numbers that are named: where a window is as long as a row, or one shorter, its end is the row's."""
    some = sorted(int(c) for c in named if c in _NAMED_SIZES)
    return [(n, m) for c in some for n in found for m in (c + 1, c) if m not in used][:_MAX_SIZES_ABOUT_NAMED]


def _list_larger(found: Sequence[int], used: set[int], places: Mapping[int, Sequence[tuple[int, int]]]) -> list[Size]:
    """All sizes past a power of two, by one share and past a tile, and each larger in several ways: of loops, of tiles.

    The first comes before other values: where the reference is slow, time ends before the others.
    """
    tiles = _find_tiles(found)
    share = math.gcd(*tiles)
    together = [
        {n: LARGER[0](n) for n in found},
        {n: 2 * n + n // share for n in tiles},
        *(
            {n: past + _SIZE_STEP * i for i, n in enumerate(tiles)}
            for past in _SIZES_PAST_TILES
            if max(tiles, default=past) < past
        ),
    ]
    news = [new for new in together if len(new) > 1 and not used & set(new.values())]
    news += [{n: m} for larger in LARGER for n in found if (m := larger(n)) > n and m not in used]
    unlike = {text_of(new): new for new in news}
    return [make_rare_size(new, places, late=i > 0) for i, new in enumerate(unlike.values())]


def make_rare_size(
    new: Mapping[int, int], places: Mapping[int, Sequence[tuple[int, int]]], *, late: bool = True
) -> Size:
    """Sizes of which nothing is said where the reference, or the candidate, does not take them."""
    text = text_of(new)
    return Size(text, text, _at(places, new), late=late, rare=True)


def is_too_large(shapes: Sequence[tuple[int, ...]], new: Mapping[Place, int]) -> bool:
    """Whether tensors of these shapes have, with new sizes, more elements than there is time for."""
    count = sum(math.prod(new.get((i, a), n) for a, n in enumerate(s)) for i, s in enumerate(shapes))
    return count > max(MAX_ELEMENTS, _MAX_GROWTH * sum(map(math.prod, shapes)))


def apply_size(shapes: Sequence[tuple[int, ...]], size: Size) -> list[tuple[int, ...]]:
    """Of these shapes, those that tensors have at a size."""
    return [tuple(size.new.get((i, a), n) for a, n in enumerate(s)) for i, s in enumerate(shapes)]


def text_of(new: Mapping[int, int]) -> str:
    return " and ".join(f"{n} as {m}" for n, m in new.items())


def _at(places: Mapping[int, Sequence[tuple[int, int]]], new: Mapping[int, int]) -> dict[tuple[int, int], int]:
    return {p: m for n, m in new.items() for p in places[n]}


def _in_proportion(found: Sequence[int]) -> list[dict[int, int]]:
    """All sizes that are no mere count larger by one share, so that a half stays half: 8 as 9 with 16 as 18."""
    some = _find_tiles(found)
    share = math.gcd(*some)
    return [{n: n + n // share for n in some}] if share > 1 else []


def _find_tiles(found: Sequence[int]) -> list[int]:
    return [n for n in found if n >= _MIN_TILED_SIZE]


def _is_named(n: int, named: frozenset[float]) -> bool:
    derived = (n - 1, math.sqrt(n), 1 / math.sqrt(n)) if n >= _MIN_DERIVED_SIZE else ()
    forms = (n, 1 / n, *derived)
    return any(math.isclose(form, c, rel_tol=1e-6) for form in forms for c in named)


#: Tensor and axis.
Place: TypeAlias = tuple[int, int]
#: What is tried, in words, and the new sizes.
Change: TypeAlias = tuple[str, Mapping[Place, int]]

#: So many of each kind.
_MAX_SIZES_OF_A_KIND = 18
#: Axes of one size from which two may be another: of three, two are as well as the third alone.
_MIN_PAIRED_AXES = 4


def as_1(names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> Iterator[Change]:
    """A size of one tensor as 1, where another has it along an axis too: a bias that all of a batch have."""
    some = [(i, a, n) for i, s in enumerate(shapes) for a, n in enumerate(s) if n > 1]
    shared = ((i, a) for i, a, n in some if len(shapes[i]) > 1 and any(n in s for j, s in enumerate(shapes) if j != i))
    return ((f"axis {a} of {names[i]} as 1", {(i, a): 1}) for i, a in islice(shared, _MAX_SIZES_OF_A_KIND))


def of_one(
    names: Sequence[str], places: Mapping[int, Sequence[Place]], ragged: Callable[[int], Sequence[int]]
) -> Iterator[Change]:
    """A size of one tensor, where several have it."""

    def every() -> Iterator[Change]:
        for n in places:
            holders = dict.fromkeys(i for i, _ in places[n])
            for i, m in product(holders, [*ragged(n)[:1], n // 2 + 1, 2 * n]) if len(holders) > 1 else ():
                yield f"{n} of {names[i]} as {m}", {(i, a): m for j, a in places[n] if j == i}

    return islice(every(), _MAX_SIZES_OF_A_KIND)


def of_two(
    names: Sequence[str], places: Mapping[int, Sequence[Place]], ragged: Callable[[int], Sequence[int]]
) -> Iterator[Change]:
    """A size along an axis of each of two tensors, where others have it too."""

    def every() -> Iterator[Change]:
        for n in places:
            for one, two in combinations(places[n], 2) if len(places[n]) >= _MIN_PAIRED_AXES else ():
                halves = len(places[n]) == _MIN_PAIRED_AXES and places[n][0] not in (
                    one,
                    two,
                )  # the other two were tried
                for m in ragged(n)[:1] if one[0] != two[0] and not halves else ():
                    said = " and ".join(f"axis {a} of {names[i]}" for i, a in (one, two))
                    yield f"{said} as {m}", {one: m, two: m}

    return islice(every(), _MAX_SIZES_OF_A_KIND)


def fits(draw: Sequence[CallTensor], given: Sequence[CallTensor], size: Size) -> bool:
    """Whether a draw, whose shapes may be others than the given ones, can be brought to a size.

    Not where one of its integers, or of its labels, could then point past the end of an axis that has become
    shorter.
    """
    for (i, axis), new in size.new.items():
        t, like = draw[i], given[i]
        if t.values.ndim != like.values.ndim or not t.values.size:
            return False
        if new < t.shape[axis] and any(_can_point(one, t.shape[axis]) for one in draw):
            return False
        if size.shaped and t.shape != like.shape:
            return False
    return True


def _can_point(tensor: CallTensor, size: int) -> bool:
    """Whether its numbers may be places of an axis, or its end, or it marks some of its own."""
    whole = tensor.values.dtype.kind in "iu"
    return (whole and bool(tensor.values.max(initial=0) <= size)) or find_unmarked_value(tensor) is not None


def join_draws(draws: Sequence[Sequence[CallTensor]], size: Size) -> tuple[CallTensor, ...]:
    """The first of two draws that fit with other sizes, filled from the second; both again where they are too short."""
    made = []
    for i, (t, more) in enumerate(zip(*draws, strict=True)):
        values, other = t.values, find_unmarked_value(t)
        for axis in sorted(range(len(t.shape)), key=lambda a: size.new.get((i, a), 0) > t.shape[a]):
            new = size.new.get((i, axis))
            if new is not None and new <= values.shape[axis]:
                values = values[(slice(None),) * axis + (slice(new),)]
            elif new is not None:
                both = np.concatenate([values, _widen_axes(more.values, values, axis)], axis)
                old, values = values.shape[axis], both.take(_repeat_places(new, both.shape[axis]), axis)
                if other is not None and axis == len(t.shape) - 1:  # a class more has no member
                    values[..., old:] = other
                if varies(t) and new > both.shape[axis]:
                    values = values * _separate_repeats(new, both.shape[axis]).reshape(
                        [-1] + [1] * (values.ndim - axis - 1)
                    )
        made.append(t if values is t.values else t.holding(values))
    return tuple(made)


def _repeat_places(new: int, size: int) -> NDArray[np.intp]:
    """Places for `new` elements of `size`: all in order, and then again, begun one further on each time."""
    places = np.arange(new)
    return np.asarray((places + places // size) % size)


def _separate_repeats(new: int, size: int) -> NDArray[np.float64]:
    """Factors that keep what comes again from being equal to what was before: of equals any may be chosen."""
    return np.asarray(1 + np.arange(new) // size / 128)


def _widen_axes(more: Any, like: Any, axis: int) -> Any:
    """`more` with the other axes of `like`, mirrored where they have grown, and begun elsewhere along each axis."""
    for other, n in enumerate(like.shape):
        if other != axis and more.shape[other] != n:
            size = more.shape[other]
            places = np.arange(n)
            more = more.take(np.where(places < size, places, 2 * size - 1 - places) % size, other)
    return np.roll(more, -axis, axis)


#: Less has no relation: an axis of 1 is one that is stretched.
_MIN_RELATED_SIZE = 2
#: A size by another of which it is one more, one less, twice as much, or half; None where there is none such.
_RELATIONS: tuple[Callable[[int], int | None], ...] = (
    lambda n: n - 1,
    lambda n: n + 1,
    lambda n: 2 * n,
    lambda n: None if n % 2 else n // 2,
)


def keep_relations(new: Mapping[int, int], sizes: Collection[int]) -> dict[int, int]:
    """The new sizes, and those of others among `sizes` that keep their relations to them; empty where none has one.

    Empty too where that would make two sizes one, or less than none. The new ones are one more where that keeps all
    relations, as those of a half, which an odd number has not.
    """
    more = (0, 1) if all(new.values()) else (0,)
    some = [made for k in more if (made := _extend_relations({n: m + k for n, m in new.items()}, sizes))]
    whole = (made for made in some if find_parted([tuple(sizes)], [tuple(made.get(n, n) for n in sizes)]) is None)
    return next(whole, some[0] if some else {})


def _extend_relations(new: Mapping[int, int], sizes: Collection[int]) -> dict[int, int]:
    made: dict[int, int] = {}
    for first, to in new.items():
        if first in made:
            continue
        made[first], left = to, [first]
        while left:
            n = left.pop()
            for relation in _RELATIONS:
                other, then = relation(n), relation(made[n])
                if (
                    other is None
                    or other in made
                    or other not in sizes
                    or min(n, other) < _MIN_RELATED_SIZE
                    or then is None
                ):
                    continue
                if then < 0:
                    return {}
                made[other] = then
                left.append(other)
    kept = {*sizes} - made.keys()
    apart = len({*made.values()}) == len(made) and not kept & {*made.values()}
    return made if apart and made != dict(new) else {}


def find_parted(given: Sequence[tuple[int, ...]], asked: Sequence[tuple[int, ...]]) -> tuple[int, int] | None:
    """Two sizes in a relation among the shapes given that have none among others, the larger first; None where all do.

    Shapes of as many axes each.
    """
    pairs = {(n, m) for a, b in zip(given, asked, strict=True) if len(a) == len(b) for n, m in zip(a, b, strict=True)}
    for (a, now), (b, then) in combinations(sorted(pairs, reverse=True), 2):
        if a == b or min(a, b) < _MIN_RELATED_SIZE:
            continue
        held = [relation for relation in _RELATIONS if relation(a) == b]
        if held and not any(relation(now) == then for relation in held):
            return a, b
    return None
