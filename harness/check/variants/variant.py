"""A variant of the inputs given, and the usual ones: other layouts, values, sizes, and one tensor for several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import chain, zip_longest
from typing import Any, TypeAlias, TypeVar

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.fills import Fill, generate_fills
from opproof.harness.check.variants.properties import Property, restore_properties, varies
from opproof.harness.check.variants.sizes import (
    LARGER,
    SIZES_BELOW_WINDOWS,
    is_too_large,
    keep_relations,
    make_alike_sizes,
    places_of,
    shapes_of,
    text_of,
)
from opproof.reports import check

GIVEN = check.GIVEN
LAYOUTS = ("transposed", "sliced", "gapped", "cropped", "exchanged", "channels", "offset", "broadcast")
#: Those of parts of a projection, as of qkv.unbind(2), x[..., :d] and heads, and the axes that such have at least.
_PROJECTED = frozenset(("cropped", "gapped"))
_PROJECTED_AXES = 3
#: Those in which every second tensor alone is tried too.
_APART = ("gapped", "cropped")
#: Axes that a tensor needs at least to lie so.
_AXES = {"transposed": 2, "gapped": 2, "cropped": 3, "exchanged": 3, "channels": 4, "broadcast": 2}
#: Values that are tried with every set of arguments.
_EXTREME_FILLS = ("wide", "large")
#: Ragged sizes that are tried before other values: a slow kernel uses the time up, and tiles err here first.
RAGGED_FIRST = 3
#: Sizes in place of n: odd, 1, none, and clearly larger ones.
_NEW: tuple[Callable[[int], int], ...] = (
    lambda n: n + 1 if n % 2 == 0 else n + 2,
    lambda _: 1,
    lambda _: 0,
    lambda n: 3 * n // 2 + 1,
    *LARGER,
)


_T = TypeVar("_T")


class Excused(Enum):
    """What is no failure of a variant that few draws have, or none; it is told."""

    NOTHING = auto()
    NUMBERS = auto()  # what is right there may be a convention: any number, and no number is a failure
    ALL = auto()  # every draw rules it out


@dataclass(frozen=True)
class Variant:
    """One set of inputs to try, and the same of other data."""

    name: str
    fill: str
    layout: str
    case_data: tuple[CallTensor, ...]
    decoy_data: tuple[CallTensor, ...]
    group: str = ""  # of which one is enough: the first that the reference takes
    unless: str = ""  # the group of which it is not needed either
    rest: tuple[Any, ...] | None = None  # what is given beside tensors, where it is not as given
    rare: bool = False  # where it tells nothing, nothing is said of it
    excused: Excused = Excused.NOTHING
    one: tuple[int, ...] = ()  # positions of tensors that are one object
    apart: bool = False  # a size of some tensors alone, or options: a candidate may be made for what all draws have
    stretched: bool = False  # an axis of size 1, that the reference is to stretch
    drawn: bool = False  # a draw as it is, whose shapes may be others than the given ones
    vast: bool = False  # so long an axis that time and memory which it takes are no news
    instead: str = ""  # the variant that makes it needless where that one is judged
    seen: bool = False  # the candidate's answer is another one there than PyTorch's own


#: Of each tensor what it has in every draw, and keeps.
Held = Sequence[Sequence[Property]]


def generate_variants(
    data: Sequence[CallTensor], decoy: Sequence[CallTensor], held: Held, resized: bool, zeros: Sequence[Fill] = ()
) -> Iterator[Variant]:
    """The given inputs first; then, where `resized`, a few ragged sizes, values, layouts and the other sizes.

    Of tensors of three axes and more those layouts come with the first values that parts of a projection have.

    `zeros`: further values, which come after layouts, by turns with other sizes: time may end before all are tried.
    """

    def changed(fill: Fill) -> Variant:
        a, b = (keep_properties(some, fill.change(some), held) for some in (data, decoy))
        return Variant(fill.name, fill.label, "contiguous", a, b, rare=fill.rare)

    yield Variant(GIVEN, "normal", "contiguous", tuple(data), tuple(decoy))
    ragged, rest = _list_sizes(data) if resized else ([], [])
    yield from (v for pair in ragged[:RAGGED_FIRST] for v in _change_size(data, decoy, *pair))
    laid = [
        Variant(layout, "normal", layout, _apply_layout(data, layout, held), _apply_layout(decoy, layout, held))
        for layout in _list_layouts(data)
    ]
    parted = any(len(t.shape) >= _PROJECTED_AXES for t in data if not t.param)
    early, late = ([v for v in laid if (parted and v.layout in _PROJECTED) is is_early] for is_early in (True, False))
    yield from (*by_turns(early, map(changed, generate_fills(data))), *late)
    yield from _apply_layouts_apart(data, decoy, held)
    values = chain(_as_one(data, decoy, held), map(changed, zeros))
    sized = (v for pair in (*ragged[RAGGED_FIRST:], *rest) for v in _change_size(data, decoy, *pair))
    yield from by_turns(values, sized)


def fill_otherwise(drawn: Variant, held: Held, labels: Sequence[str] = _EXTREME_FILLS) -> Iterator[Variant]:
    """Large values, or others, where other arguments are drawn: a limit may be one of an argument and of values."""
    for fill in generate_fills(drawn.case_data):
        if fill.label in labels:
            a, b = (keep_properties(some, fill.change(some), held) for some in (drawn.case_data, drawn.decoy_data))
            name = f"{drawn.name}, {fill.name}"
            fill_name = f"{drawn.fill}-{fill.label}"
            yield replace(
                drawn, name=name, fill=fill_name, case_data=a, decoy_data=b, group="", unless="", rare=True
            )  # fmt: skip


def apply_other_layouts(drawn: Variant, held: Held) -> Iterator[Variant]:
    """Every layout where other arguments are drawn: one of two paths may take its tensors to be contiguous."""
    for layout in _list_layouts(drawn.case_data):
        a, b = (_apply_layout(some, layout, held) for some in (drawn.case_data, drawn.decoy_data))
        yield replace(drawn, name=f"{drawn.name}, {layout}", layout=layout, case_data=a, decoy_data=b, rare=True)


def _list_layouts(data: Sequence[CallTensor]) -> list[str]:
    packed = ["packed"] * any(t.layout != CONTIGUOUS for t in data)
    return [*packed, *(y for y in LAYOUTS if y not in _AXES or any(has_layout(t, y) for t in data))]


def name_of(names: Sequence[str], place: int) -> str:
    """What an argument is called, or its number where it has no name."""
    return names[place] if place < len(names) else f"argument {place}"


def by_turns(*some: Iterable[_T]) -> Iterator[_T]:
    """The first of each, the second of each, and so on until the last of the longest; none of them is empty."""
    yield from filter(None, chain.from_iterable(zip_longest(*some)))


def _as_one(data: Sequence[CallTensor], decoy: Sequence[CallTensor], held: Held) -> Iterator[Variant]:
    """One tensor in the place of all that are as it is, as self attention is called."""
    free = [i for i, t in enumerate(data) if varies(t) and not t.param and not t.marks]
    alike = ([i for i in free if (data[i].shape, data[i].dtype) == (data[at].shape, data[at].dtype)] for at in free)
    one = next((some for some in alike if len(some) > 1), [])
    made = [[t.values if i not in one else some[one[0]].values for i, t in enumerate(some)] for some in (data, decoy)]
    if one and all(_is_kept(held[i], data[i], made[0][i]) for i in one):
        *names, last = [data[i].name for i in one]
        whole, before = (
            tuple(replace(t, values=v) for t, v in zip(some, values, strict=True))
            for some, values in zip((data, decoy), made, strict=True)
        )
        name = f"one tensor for {', '.join(names)} and {last}"
        yield Variant(name, "one", "contiguous", whole, before, rare=True, one=tuple(one))


def keep_properties(tensors: Sequence[CallTensor], values: Sequence[Array], held: Held) -> tuple[CallTensor, ...]:
    """The tensors with other values, those that vary; with their own where no others have what they have."""
    pairs = zip(tensors, values, held, strict=True)
    return tuple((restore_properties(some, t, new) or t) if varies(t) else t for t, new, some in pairs)


def _apply_layout(tensors: Sequence[CallTensor], layout: str, held: Held) -> tuple[CallTensor, ...]:
    return tuple(apply_layout_to(t, layout, some) for t, some in zip(tensors, held, strict=True))


def apply_layout_to(t: CallTensor, layout: str, some: Sequence[Property]) -> CallTensor:
    """The tensor in a layout; a broadcast one as it is where it would lose what it has in every draw."""
    if layout != "broadcast":
        return t if t.param else replace(t, layout=layout)
    values = np.broadcast_to(t.values[:1], t.values.shape) if len(t.shape) >= 2 and varies(t) else None
    return t if values is None or not _is_kept(some, t, values) else replace(t, values=values, layout=layout)


def has_layout(t: CallTensor, layout: str) -> bool:
    """Whether a tensor can lie so."""
    return not t.param and len(t.shape) >= _AXES.get(layout, 1)


def _apply_layouts_apart(data: Sequence[CallTensor], decoy: Sequence[CallTensor], held: Held) -> Iterator[Variant]:
    """Every second tensor alone with gaps, then the others: the strides of one may be taken for those of another."""
    for layout in _APART:
        able = [i for i, t in enumerate(data) if len(t.shape) >= _AXES[layout] and not t.param]
        both = [(draw, _apply_layout(draw, layout, held)) for draw in (data, decoy)]
        for word, some in (("in places", able[::2]), ("elsewhere", able[1::2])) if len(able) > 1 else ():
            a, b = (
                tuple(one if i in some else t for i, (t, one) in enumerate(zip(draw, laid, strict=True)))
                for draw, laid in both
            )
            yield Variant(f"{layout} {word}", "normal", layout, a, b)


def _is_kept(some: Sequence[Property], t: CallTensor, values: Array) -> bool:
    """Whether values have what the tensor has, as they are."""
    made = restore_properties(some, t, values)
    return made is not None and np.array_equal(made.values, values, equal_nan=True)


def _list_sizes(tensors: Sequence[CallTensor]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Every size among the shapes, and one to try in its place; of ragged sizes, and of others."""
    shapes = [() if t.param else t.shape for t in tensors]
    sizes = list(dict.fromkeys(n for s in shapes for n in s if n > 1))

    def fits(old: int, new: int) -> bool:
        return new != old and new not in sizes and not is_too_large(shapes, dict.fromkeys(places_of(old, shapes), new))

    ragged, *others = [[(n, new_of(n)) for n in sizes if fits(n, new_of(n))] for new_of in _NEW]
    others.append([(1, 2)] if any(1 in s for s in shapes) and fits(1, 2) else [])
    others.append(make_alike_sizes(sizes))
    others.append([(n, m) for n in sizes for m in SIZES_BELOW_WINDOWS if m < n and fits(n, m)])
    return ragged, list(dict.fromkeys(pair for some in others for pair in some))


def _change_size(data: Sequence[CallTensor], decoy: Sequence[CallTensor], old: int, new: int) -> Iterator[Variant]:
    """One size as another; and with those that stand in a relation to it, where nobody takes it alone."""
    rare = old == 1 or new > old + 2 or 1 < new < old
    yield _with(data, decoy, {old: new}, rare=rare)
    shapes = shapes_of(data)
    together = keep_relations({old: new}, {n for s in shapes for n in s})
    if together and not is_too_large(shapes, {p: m for n, m in together.items() for p in places_of(n, shapes)}):
        yield _with(data, decoy, together, rare=True, instead=f"{old} as {new}")


def _with(
    data: Sequence[CallTensor], decoy: Sequence[CallTensor], new: Mapping[int, int], *, rare: bool, instead: str = ""
) -> Variant:
    sized = _fill_new_sizes(data, new, 0), _fill_new_sizes(decoy, new, 1)
    return Variant(text_of(new), "normal", "contiguous", *sized, rare=rare, instead=instead)


def _fill_new_sizes(tensors: Sequence[CallTensor], new: Mapping[int, int], salt: int) -> tuple[CallTensor, ...]:
    rng = np.random.default_rng([*next(iter(new.items())), salt])
    made = []
    for t in tensors:
        parts = t.values.shape[len(t.shape) :]
        shape = (*(new.get(n, n) for n in t.shape), *parts)
        kept = t.param or not t.kind or shape == t.values.shape
        made.append(t if kept else t.holding(rng.standard_normal(shape)))
    return tuple(made)


#: Two draws, of which one is judged and the other lies in memory before.
Pair: TypeAlias = tuple[tuple[CallTensor, ...], tuple[CallTensor, ...]]


def of_both(pair: Pair, at: int, change: Callable[[CallTensor], CallTensor | None]) -> Pair | None:
    """The draws with the tensor at a place changed; None where it cannot be so in one of them."""
    a, b = pair
    asked, before = change(a[at]), change(b[at])
    if asked is None or before is None:
        return None
    return (*a[:at], asked, *a[at + 1 :]), (*b[:at], before, *b[at + 1 :])
