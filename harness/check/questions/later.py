"""Draws of later seeds as they are: what few draws have, as an option at its end, or two options that meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from opproof.harness.check.questions.arguments import Draw, shapes
from opproof.harness.check.questions.changed import Pair
from opproof.harness.check.questions.variants import Variant, name_of
from opproof.harness.check.tensors import CONTIGUOUS, Tensor

#: So many draws more are judged, if there is time: what one element of thousands shows, few draws have.
_FURTHER = 8
#: So many more are looked at.
_LOOKED_AT = 2000


def further(first: Draw, draw: Callable[[int], Draw], seed: int) -> Iterator[Variant]:
    """Those that are judged; each lies in memory before the next that has its shapes."""
    for variant in _drawn(first, draw, range(seed, seed + _FURTHER)):
        if variant.asked is not variant.other:
            yield variant


def later(first: Draw, draw: Callable[[int], Draw], seed: int) -> Iterator[Variant]:
    """Those after them, to be looked at one by one."""
    return _drawn(first, draw, range(seed + _FURTHER, seed + _FURTHER + _LOOKED_AT))


def _drawn(first: Draw, draw: Callable[[int], Draw], seeds: Iterable[int]) -> Iterator[Variant]:
    """Of what a factory draws anew; where the draw before has other shapes, its own tensors lie in memory before."""
    before = first[1]
    for k in seeds:
        arguments, tensors = draw(k)
        if arguments.places != first[0].places or arguments.spec != first[0].spec:
            continue
        if all(np.array_equal(a.values, b.values, equal_nan=True) for a, b in zip(tensors, first[1], strict=True)):
            return
        rest = None if repr(arguments.rest) == repr(first[0].rest) else arguments.rest
        other = before if shapes(before) == shapes(tensors) else tensors
        yield Variant(f"draw of seed {k}", f"draw-{k}", CONTIGUOUS, tensors, other, rest=rest, rare=True, drawn=True)
        before = tensors


def numbers_of_others(draws: Mapping[int, Draw], names: Sequence[str]) -> Iterator[Variant]:
    """The first draw with one number beside its tensors as another draw has it, one after the other.

    Who keeps a power by the step alone, and not by what is raised to it, has that of the call before.
    """
    (first, tensors), (_, others), *_ = draws.values()
    if shapes(tensors) != shapes(others):
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
    seen, found = {_pattern(tensors)}, dict[int, Pair]()
    for seed, (arguments, some) in draws.items():
        if repr(arguments.rest) == repr(first.rest) and _pattern(some) not in seen:
            seen.add(_pattern(some))
            like = (t for a, t in others if t is not some and shapes(t) == shapes(some))
            found[seed] = some, next(like, some)
    return found


def _pattern(tensors: tuple[Tensor, ...]) -> tuple[int, ...]:
    """Which sizes are equal."""
    sizes = [n for t in tensors for n in t.shape]
    return tuple(sizes.index(n) for n in sizes)
