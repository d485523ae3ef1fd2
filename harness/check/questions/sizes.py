"""Other sizes of tensors that a factory makes: ragged ones, larger and smaller ones.

A kernel whose last tile is wrong is right at multiples of its tile, and a factory gives these. Left as they are: sizes
that the reference or an argument names, the taps of a convolution, and those that the tensors hold together
(`structure.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from opproof.harness.check.questions.apart import as_1, of_one, of_two
from opproof.harness.check.questions.structure import pointed, twice
from opproof.harness.check.questions.tied import tied
from opproof.harness.check.tensors import Tensor

#: Even sizes below are too few to say anything of tiles; odd ones are taps.
_LEAST_EVEN, _LEAST_ODD = 4, 9
#: Less counts heads or taps.
_TILE = 8
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
_ALONE = (LARGER[0], LARGER[2])
#: All sizes together past a usual tile, and past a larger one, each by so much more than the one before.
_PAST, _MORE = (65, 131), 2
#: Less than a window, a state or a tap has: what is kept of the call before reaches past what is new.
FEW = (2, 3)
#: In place of a batch of 2: a kernel may do the first few.
_BATCH = 9
#: So many sizes are made as others are.
_ALIKE = 3
#: Whole numbers that a reference names, as a window's or a block's length: a size is made one of them, and one more.
_ABOUT = range(4, 257)
#: So many such sizes.
_SOME = 6
#: A larger size has so many elements at most, or so many times those given.
_ELEMENTS, _TIMES = 1 << 20, 4
#: The root of 4 is 2, which says nothing, as 4 - 1 does; that of 64 in a reference is the scale of its scores.
_DERIVED = 16


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


def sizes(tensors: Sequence[Tensor], named: frozenset[float], *, parted: bool = False) -> list[Size]:
    """What to try: every size ragged, all at once or else each; what one shape has twice, along one axis; sizes of 1.

    Sizes of 1 where nothing but numbers is given: no label points past them. `parted`: and sizes of some tensors alone.
    """
    shapes = shapes_of(tensors)
    found = free_sizes(tensors, named)
    places = {n: places_of(n, shapes) for n in (1, *found)}
    used = {n for s in shapes for n in s}
    fixed = _held_together(tensors) | {n for n in used if _named(n, named)}

    def ragged(n: int) -> list[int]:
        return [m for m in ((n + 1, n + 2) if n % 2 == 0 else (n + 2, n + 1)) if m not in used]

    some = [n for n in found if ragged(n)]
    both = [{n: ragged(n)[pick] for n in some} for pick in (0, -1)] if len(some) > 1 else []
    made = [Size(text_of(new), "together", _at(places, new)) for new in both]
    made += [Size(f"{n} as {m}", f"{n}", dict.fromkeys(places[n], m), "together") for n in found for m in ragged(n)]
    made += [Size(text_of(new), "share", _at(places, new), "together") for new in _in_proportion(found) if len(new) > 1]
    for shape in dict.fromkeys(s for s in shapes if any(s.count(n) > 1 for n in found)):
        n = next(n for n in found if shape.count(n) > 1)
        for axis in [a for a, m in enumerate(shape) if m == n][:0:-1]:
            alone = [(i, axis) for i, s in enumerate(shapes) if s == shape]
            text = "x".join(map(str, shape))
            made += [
                Size(f"axis {axis} of {text} as {m}", text, dict.fromkeys(alone, m), shaped=True) for m in ragged(n)
            ]
            for larger in _ALONE:
                name, new = f"axis {axis} of {text} as {larger(n)}", dict.fromkeys(alone, larger(n))
                made.append(Size(name, name, new, shaped=True, late=True, rare=True))
    if all(t.kind and not t.marks for t in tensors if not t.param):
        made += [Size(f"{n} as 1", f"{n} as 1", dict.fromkeys(places[n], 1), late=True) for n in found if 1 not in used]
        news = [(1, 2)] if 1 in used else []
        news += made_alike(found)
        news += [(n, m) for n in found for m in FEW if m < n and m not in used]
        news += [(n, n + 1) for n in found if n % 2 == 0 and {n // 2, n // 2 + 1} & used]  # as many a spectrum has
        news += _about(found, used, named)
        made += [rare_size({n: m}, places) for n, m in news]
        made += _parted([t.name for t in tensors], shapes, {n: places[n] for n in found}, ragged) if parted else []
        made += _batches(shapes, used)
    made += [s for s in _larger(found, used, places) if not is_too_large(shapes, shapes_after(shapes, s))]
    return [*chain.from_iterable((s, *_tied(s, shapes, fixed)) for s in made)]


def _tied(size: Size, shapes: Sequence[tuple[int, ...]], fixed: Collection[int]) -> list[Size]:
    """The size with those that stand in a relation to its own, tried where nobody takes it alone."""
    new = {shapes[i][a]: m for (i, a), m in size.new.items()}
    if any(len(places_of(n, shapes)) != sum(shapes[i][a] == n for i, a in size.new) for n in new):
        return []  # of some tensors or axes alone
    together = tied(new, {n for s in shapes for n in s} - {*fixed})
    places = {n: places_of(n, shapes) for n in together}
    one = replace(size, name=text_of(together), new=_at(places, together), rare=True, instead=size.name)
    return [one] if together and not is_too_large(shapes, shapes_after(shapes, one)) else []


def shapes_of(tensors: Sequence[Tensor]) -> list[tuple[int, ...]]:
    """Of all that are no parameters, whose shapes are the module's."""
    return [() if t.param else t.shape for t in tensors]


def free_sizes(tensors: Sequence[Tensor], named: frozenset[float]) -> list[int]:
    """Those that may be others, each once."""
    left = _held_together(tensors)
    return [
        n
        for n in dict.fromkeys(n for s in shapes_of(tensors) for n in s)
        if n not in left and n >= (_LEAST_EVEN if n % 2 == 0 else _LEAST_ODD) and not _named(n, named)
    ]


def _held_together(tensors: Sequence[Tensor]) -> set[int]:
    return {n for t in tensors if not t.param for n in (*pointed(t), *twice(t))}


def places_of(n: int, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """By tensor and axis, where a size is."""
    return [(i, a) for i, s in enumerate(shapes) for a, m in enumerate(s) if m == n]


def _batches(shapes: Sequence[tuple[int, ...]], used: set[int]) -> list[Size]:
    """A batch of 2, a first axis everywhere, larger; 3 might be taps."""
    places = {2: [(i, a) for i, s in enumerate(shapes) for a, m in enumerate(s) if m == 2]}
    alone = all(a == 0 for _, a in places[2]) and any(s[:1] == (2,) and len(s) > 1 for s in shapes)
    return [rare_size({2: _BATCH}, places)] if alone and _BATCH not in used else []


def made_alike(found: Sequence[int]) -> list[tuple[int, int]]:
    """The larger and the smaller of neighbours among sizes: who tells an axis by its size takes another of squares."""
    return [(max(pair), min(pair)) for pair in pairwise(found)][:_ALIKE]


def _parted(
    names: Sequence[str],
    shapes: Sequence[tuple[int, ...]],
    places: Mapping[int, Sequence[tuple[int, int]]],
    ragged: Callable[[int], Sequence[int]],
) -> list[Size]:
    ones = as_1(names, shapes)
    stretched = [Size(text, text, new, late=True, rare=True, apart=True, stretched=True) for text, new in ones]
    others = chain(of_one(names, places, ragged), of_two(names, places, ragged))
    return stretched + [Size(text, text, new, late=True, rare=True, apart=True) for text, new in others]


def _about(found: Sequence[int], used: set[int], named: frozenset[float]) -> list[tuple[int, int]]:
    """Sizes at numbers that are named: where a window is as long as a row, or one shorter, its end is the row's."""
    some = sorted(int(c) for c in named if c in _ABOUT)
    return [(n, m) for c in some for n in found for m in (c + 1, c) if m not in used][:_SOME]


def _larger(found: Sequence[int], used: set[int], places: Mapping[int, Sequence[tuple[int, int]]]) -> list[Size]:
    """All sizes past a power of two, by one share and past a tile, and each larger in several ways: of loops, of tiles.

    The first comes before other values: where the reference is slow, time ends before the others.
    """
    tiles = _tiles(found)
    share = math.gcd(*tiles)
    together = [
        {n: LARGER[0](n) for n in found},
        {n: 2 * n + n // share for n in tiles},
        *({n: past + _MORE * i for i, n in enumerate(tiles)} for past in _PAST if max(tiles, default=past) < past),
    ]
    news = [new for new in together if len(new) > 1 and not used & set(new.values())]
    news += [{n: m} for larger in LARGER for n in found if (m := larger(n)) > n and m not in used]
    unlike = {text_of(new): new for new in news}
    return [rare_size(new, places, late=i > 0) for i, new in enumerate(unlike.values())]


def rare_size(new: Mapping[int, int], places: Mapping[int, Sequence[tuple[int, int]]], *, late: bool = True) -> Size:
    """Sizes of which nothing is said where the reference, or the candidate, does not take them."""
    text = text_of(new)
    return Size(text, text, _at(places, new), late=late, rare=True)


def is_too_large(before: Sequence[tuple[int, ...]], after: Sequence[tuple[int, ...]]) -> bool:
    """Whether tensors of these shapes have more elements than there is time for."""
    return sum(map(math.prod, after)) > max(_ELEMENTS, _TIMES * sum(map(math.prod, before)))


def shapes_after(shapes: Sequence[tuple[int, ...]], size: Size) -> list[tuple[int, ...]]:
    """Of these shapes, those that tensors have at a size."""
    return [tuple(size.new.get((i, a), n) for a, n in enumerate(s)) for i, s in enumerate(shapes)]


def text_of(new: Mapping[int, int]) -> str:
    return " and ".join(f"{n} as {m}" for n, m in new.items())


def _at(places: Mapping[int, Sequence[tuple[int, int]]], new: Mapping[int, int]) -> dict[tuple[int, int], int]:
    return {p: m for n, m in new.items() for p in places[n]}


def _in_proportion(found: Sequence[int]) -> list[dict[int, int]]:
    """All sizes that are no mere count larger by one share, so that a half stays half: 8 as 9 with 16 as 18."""
    some = _tiles(found)
    share = math.gcd(*some)
    return [{n: n + n // share for n in some}] if share > 1 else []


def _tiles(found: Sequence[int]) -> list[int]:
    return [n for n in found if n >= _TILE]


def _named(n: int, named: frozenset[float]) -> bool:
    derived = (n - 1, math.sqrt(n), 1 / math.sqrt(n)) if n >= _DERIVED else ()
    forms = (n, 1 / n, *derived)
    return any(math.isclose(form, c, rel_tol=1e-6) for form in forms for c in named)
