"""From draws to what is tried: every variant with data of its own, draws of later seeds, what no draw shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.arguments import Draw, list_shapes
from opproof.harness.check.variants.axes import At, generate_long_axes, generate_swept_sizes, to_the_end
from opproof.harness.check.variants.empty_groups import generate_empty_groups
from opproof.harness.check.variants.fills import TIED, generate_rare_fills
from opproof.harness.check.variants.integer_inputs import generate_all_alike, generate_missing_labels, round_to_blocks
from opproof.harness.check.variants.properties import Property, find_properties, restore_properties
from opproof.harness.check.variants.sizes import SIZES_BELOW_WINDOWS, Size, fits, join_draws
from opproof.harness.check.variants.variant import (
    Pair,
    Variant,
    apply_other_layouts,
    by_turns,
    fill_otherwise,
    generate_variants,
    name_of,
)

#: How many data are tried where noise takes another branch.
DRAWS_PER_BRANCH = 3
#: Sizes at which all numbers that say which are made alike: of more than a tile of rows.
_ALL_ALIKE_SIZES = frozenset((1100, 4200))


def take_as_given(pairs: Sequence[Pair]) -> tuple[Variant, ...]:
    """Return the draws as they are, which come first of all variants."""
    return tuple(next(generate_variants(*pair, (), False)) for pair in pairs)


def variants_of(
    pairs: Sequence[Pair],
    kept: Sequence[Sequence[Property]],
    by_shape: bool,
    others: Sequence[Size],
    otherwise: Sequence[Variant],
    floors: frozenset[float] = frozenset(),
    named: frozenset[float] = frozenset(),
    marks: frozenset[int] = frozenset(),
    exchanged: Sequence[Variant] = (),
) -> tuple[tuple[Variant, ...], ...]:
    """Those of every kind of inputs, and a factory's in `others`, sizes; each of several pairs of draws.

    `otherwise`: draws with other arguments beside tensors; `exchanged`: with two of them exchanged. `floors`: small
    numbers that the reference adds; `named`: all that it names; `marks`: integers that it asks for. Seldom values
    and other sizes come by turns: a slow kernel uses the time up before all are tried.
    """
    zeros = list(generate_rare_fills(pairs[0][0], floors))
    first, *made = _group_by_name([generate_variants(*pair, kept, by_shape, zeros) for pair in pairs])
    rest = [some for some in made if not all(_is_given(v, draw) for v, (draw, _) in zip(some, pairs, strict=True))]
    sized = [(size, _apply_size_to_draws(pairs, size, kept)) for size in others]
    early, late = ([some for size, some in sized if size.late is late] for late in (False, True))
    drawn = [
        (v,) for v in (*otherwise, *exchanged, *generate_missing_labels(pairs, named, marks), *round_to_blocks(pairs))
    ]
    early += [_add_other_arguments(one, v) for v in otherwise for one in _select_few(early)]
    early += [(one,) for v in otherwise for one in fill_otherwise(v, kept)]
    seldom = [(v,) for v in generate_empty_groups(pairs, kept)]
    seldom += [(v,) for size, some in sized if size.late for v in _at_size(size, some, kept)]
    usual, few = ([some for some in rest if some[0].rare is r] for r in (False, True))
    return (first, *drawn, *early, *usual, *by_turns([*few, *seldom], late))


def _group_by_name(made: Iterable[Iterable[Variant]]) -> list[tuple[Variant, ...]]:
    """The variants of each pair by their names, those that all have: draws may be of several shapes."""
    named = [{v.name: v for v in some} for some in made]
    return [tuple(of[name] for of in named) for name in named[0] if all(name in of for of in named)]


def _is_given(variant: Variant, draw: Sequence[CallTensor]) -> bool:
    """Whether nothing could be changed: shares of 1 that are all equal are none, say, so that these stay."""
    return all(t is one for t, one in zip(variant.case_data, draw, strict=True))


def find_held_properties(pairs: Sequence[Pair]) -> list[tuple[Property, ...]]:
    """What each input is in every draw."""
    return [find_properties(draws) for draws in zip(*(draw for pair in pairs for draw in pair), strict=True)]


def _apply_size_to_draws(pairs: Sequence[Pair], size: Size, kept: Sequence[Sequence[Property]]) -> tuple[Variant, ...]:
    """The draws that can be brought to a size, by two; where no two can, one variant without tensors."""
    given = pairs[0][0]
    draws = [d for pair in pairs for d in pair if fits(d, given, size)]

    def brought(one: tuple[CallTensor, ...], more: tuple[CallTensor, ...]) -> tuple[CallTensor, ...] | None:
        some = join_draws((one, more), size)
        made = [restore_properties(has, t, t.values, placed=False) for t, has in zip(some, kept, strict=True)]
        return None if None in made else tuple(t for t in made if t is not None)

    both = [(brought(a, b), brought(b, a)) for a, b in zip(draws[::2], draws[1::2], strict=False)]
    some = [(a, b) for a, b in both if a is not None and b is not None]

    def variant(a: tuple[CallTensor, ...], b: tuple[CallTensor, ...], group: str) -> Variant:
        return Variant(
            size.name,
            "normal",
            CONTIGUOUS,
            a,
            b,
            group,
            size.unless,
            rare=size.rare,
            apart=size.apart,
            stretched=size.stretched,
            instead=size.instead,
        )

    guess = size.group if both else ""  # what its values are in every draw they cannot be at this size
    return tuple(variant(a, b, size.group) for a, b in some) or (variant((), (), guess),)


def _select_few(sized: Sequence[tuple[Variant, ...]]) -> list[tuple[Variant, ...]]:
    """The first sizes of the first group, and the first that are clearly larger: what a flag is tried at."""
    ragged = [some for some in sized if not some[0].rare]
    return [*(s for s in ragged if s[0].group == ragged[0][0].group), *[s for s in sized if s[0].rare][:1]]


def _at_size(size: Size, sized: tuple[Variant, ...], kept: Sequence[Sequence[Property]]) -> Iterator[Variant]:
    """What errs at a size alone: far from 0 where there are few rows, and all numbers alike where there are many."""
    news = set(size.new.values())
    if len(news) != 1 or size.apart or not sized[0].case_data:
        return
    if news <= {1, *SIZES_BELOW_WINDOWS}:
        yield from fill_otherwise(sized[0], kept, ("negative",))
    if news <= _ALL_ALIKE_SIZES:
        yield from generate_all_alike([(v.case_data, v.decoy_data) for v in sized], size.name)


def _add_other_arguments(sized: tuple[Variant, ...], drawn: Variant) -> tuple[Variant, ...]:
    """The same sizes with the arguments beside tensors that another draw has; who refuses those is no news."""
    return tuple(
        replace(
            v, name=f"{drawn.name}, {v.name}", group=f"{drawn.name}, {v.group}", unless="", rest=drawn.rest, rare=True
        )
        for v in sized
    )


def generate_sweep(
    pairs: Sequence[Pair],
    kept: Sequence[Sequence[Property]],
    named: frozenset[float],
    otherwise: Sequence[Variant],
    wanted: Callable[[str], bool],
) -> Iterator[Variant]:
    """Draws with other arguments in every layout, then the first pair at one size after the other; by name `wanted`."""
    yield from (v for drawn in otherwise for v in apply_other_layouts(drawn, kept) if wanted(v.name))
    for size in generate_swept_sizes(pairs[0][0], named):
        if not wanted(size.name):
            continue
        variant = _apply_size_to_draws(pairs[:1], size, kept)[0]
        if variant.case_data:
            yield variant


def generate_sweep_apart(
    pair: Pair, seed: int, kept: Sequence[Sequence[Property]], named: frozenset[float], wanted: Callable[[str], bool]
) -> Iterator[Variant]:
    """The draw of a seed that has other shapes than the first, at one size after the other."""
    for size in generate_swept_sizes(pair[0], named):
        if wanted(name := f"seed {seed} with {size.name}"):
            variant = _apply_size_to_draws([pair], size, kept)[0]
            if variant.case_data:
                yield replace(variant, name=name, group="", unless="")


def generate_long_axis(
    pair: Pair,
    kept: Sequence[Sequence[Property]],
    named: frozenset[float],
    borne: Callable[[Callable[[int], Variant | None], int], bool],
    wanted: Callable[[str], bool],
) -> Iterator[Variant]:
    """The draws with one axis as long as is `borne`, and then with numbers that point to its places up to its end."""
    for old, sizes in generate_long_axes(pair[0], named):

        def sized(m: int, at: At) -> Variant | None:
            variant = _apply_size_to_draws([pair], at(m), kept)[0]
            return replace(variant, vast=True) if variant.case_data else None

        for new, at in sizes:
            if borne(partial(sized, at=at), new) and (variant := sized(new, at)):
                yield from (v for v in (variant, to_the_end(variant, pair[0], old, new)) if v and wanted(v.name))
                break


def in_turn(some: Sequence[Variant], i: int) -> tuple[Variant, ...]:
    """The data of a factory's i-th variant: others come first each time, and the two of a pair take turns.

    One of them is judged, the other lies in memory before; a factory may put into every second draw what counts. Ties
    are not in turn: what meets there is of one draw. Layouts have the first two draws, whose truth is known once.
    """
    by = i % DRAWS_PER_BRANCH if some[0].layout == CONTIGUOUS else 0
    turned = (*some[by:], *some[:by])
    swapped = i % 2 and some[0].fill != TIED and some[0].rest is None
    return tuple(replace(v, case_data=v.decoy_data, decoy_data=v.case_data) for v in turned) if swapped else turned


def take_in_turn(made: Iterable[tuple[Variant, ...]]) -> Iterator[tuple[Variant, ...]]:
    """Those of a factory, each in its turn; one that comes instead of another is not counted."""
    i = 0
    for some in made:
        yield in_turn(some, i)
        i += not some[0].instead


def as_drawn(pairs: Sequence[Pair], kept: Sequence[Sequence[Property]]) -> tuple[str, ...]:
    """What is to be said of floats that have the same property in every draw."""
    names = [t.name for t in pairs[0][0]]
    some = {name: list(dict.fromkeys(p.said for p in has)) for name, has in zip(names, kept, strict=True) if has}
    return tuple(
        f"values of {name} that are not {_join_with_or(said)}: they are in every draw" for name, said in some.items()
    )


def _join_with_or(words: Sequence[str]) -> str:
    """Words of which any may be: a, b or c."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def describe_unvaried(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """What is to be said of integers, lengths or places, that a factory never draws otherwise."""
    draws = zip(*(draw for pair in pairs for draw in pair), strict=True)
    some = [d for d in draws if not d[0].kind and not d[0].param]
    same = [first.name for first, *rest in some if all(np.array_equal(first.values, t.values) for t in rest)]
    return tuple(f"other values of {name}: inputs() gives the same for every seed" for name in same)


#: So many draws more are judged, if there is time: what one element of thousands shows, few draws have.
_JUDGED_LATER_DRAWS = 8
#: So many more are looked at.
_SCREENED_LATER_DRAWS = 2000


def generate_judged_draws(first: Draw, draw: Callable[[int], Draw], seed: int) -> Iterator[Variant]:
    """Those that are judged; each lies in memory before the next that has its shapes."""
    for variant in _generate_draws(first, draw, range(seed, seed + _JUDGED_LATER_DRAWS)):
        if variant.case_data is not variant.decoy_data:
            yield variant


def generate_later_draws(first: Draw, draw: Callable[[int], Draw], seed: int) -> Iterator[Variant]:
    """Those after them, to be looked at one by one."""
    return _generate_draws(
        first, draw, range(seed + _JUDGED_LATER_DRAWS, seed + _JUDGED_LATER_DRAWS + _SCREENED_LATER_DRAWS)
    )


def _generate_draws(first: Draw, draw: Callable[[int], Draw], seeds: Iterable[int]) -> Iterator[Variant]:
    """Of what a factory draws anew; where the draw before has other shapes, its own tensors lie in memory before."""
    before = first[1]
    for k in seeds:
        arguments, tensors = draw(k)
        if arguments.places != first[0].places or arguments.spec != first[0].spec:
            continue
        if all(np.array_equal(a.values, b.values, equal_nan=True) for a, b in zip(tensors, first[1], strict=True)):
            return
        rest = None if repr(arguments.rest) == repr(first[0].rest) else arguments.rest
        other = before if list_shapes(before) == list_shapes(tensors) else tensors
        yield Variant(f"draw of seed {k}", f"draw-{k}", CONTIGUOUS, tensors, other, rest=rest, rare=True, drawn=True)
        before = tensors


def numbers_of_others(draws: Mapping[int, Draw], names: Sequence[str]) -> Iterator[Variant]:
    """The first draw with one number beside its tensors as another draw has it, one after the other.

    Who keeps a power by the step alone, and not by what is raised to it, has that of the call before.
    """
    (first, tensors), (_, others), *_ = draws.values()
    if list_shapes(tensors) != list_shapes(others):
        return
    labels, seen = first.labels(names), {repr(first.rest)}
    for i, value in enumerate(first.rest):
        for seed, (arguments, _) in draws.items():
            if len(arguments.rest) != len(first.rest) or type(value) not in (int, float):
                continue
            rest = (*first.rest[:i], arguments.rest[i], *first.rest[i + 1 :])
            if repr(rest) not in seen and type(arguments.rest[i]) is type(value):
                seen.add(repr(rest))
                text = f"{name_of(labels, i)} of seed {seed}"
                yield Variant(text, text.replace(" ", "-"), CONTIGUOUS, tensors, others, rest=rest, rare=True)


def of_other_shapes(draws: Mapping[int, Draw]) -> dict[int, Pair]:
    """By seed, draws in which other sizes are equal than in the first: as many queries as keys, or fewer.

    Each with the first draw that has its shapes and arguments, or with itself.
    """
    (first, tensors), *others = draws.values()
    seen, found = {_find_equal_sizes(tensors)}, dict[int, Pair]()
    for seed, (arguments, some) in draws.items():
        if repr(arguments.rest) == repr(first.rest) and _find_equal_sizes(some) not in seen:
            seen.add(_find_equal_sizes(some))
            like = (t for a, t in others if t is not some and list_shapes(t) == list_shapes(some))
            found[seed] = some, next(like, some)
    return found


def _find_equal_sizes(tensors: tuple[CallTensor, ...]) -> tuple[int, ...]:
    sizes = [n for t in tensors for n in t.shape]
    return tuple(sizes.index(n) for n in sizes)
