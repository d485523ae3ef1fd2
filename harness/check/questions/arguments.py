"""Arguments beside tensors, as steps, windows and flags, that a factory draws otherwise for other seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.subject import Arguments
from opproof.harness.check.tensors import CONTIGUOUS, Tensor

#: Of so many others each is tried once.
_OTHERS = 3
#: One draw: its arguments and its tensors.
Draw = tuple[Arguments, tuple[Tensor, ...]]
#: So many draws more are judged, if there is time: what one element of thousands shows, few draws have.
_FURTHER = 8


def otherwise(draws: Mapping[int, Draw]) -> tuple[Variant, ...]:
    """By seed a factory's draws, the given one first: those with other plain arguments, as they are drawn.

    What lies in memory before is another draw of the same shapes; where there is none, they are not tried.
    """
    (first, _), *_ = draws.values()
    seen, made = {repr(first.rest)}, list[Variant]()
    for seed, (arguments, tensors) in draws.items():
        like = arguments.places == first.places and arguments.spec == first.spec
        if not like or repr(arguments.rest) in seen:
            continue
        other = next((t for s, (_, t) in draws.items() if s != seed and _shapes(t) == _shapes(tensors)), None)
        if other is not None:
            seen.add(repr(arguments.rest))
            name = f"arguments of seed {seed}"
            made.append(Variant(name, f"arguments-{seed}", CONTIGUOUS, tensors, other, rest=arguments.rest))
    return tuple(made[:_OTHERS])


def further(first: Draw, draw: Callable[[int], Draw], seed: int) -> Iterator[Variant]:
    """Draws of later seeds as they are, of what a factory draws anew; each lies in memory before the next."""
    before = first
    for k in range(seed, seed + _FURTHER):
        now = draw(k)
        arguments, tensors = now
        if arguments.places != first[0].places or arguments.spec != first[0].spec:
            continue
        if all(np.array_equal(a.values, b.values, equal_nan=True) for a, b in zip(tensors, first[1], strict=True)):
            return
        if _shapes(before[1]) == _shapes(tensors):
            rest = None if repr(arguments.rest) == repr(first[0].rest) else arguments.rest
            yield Variant(f"draw of seed {k}", f"draw-{k}", CONTIGUOUS, tensors, before[1], rest=rest, rare=True)
        before = now


def _shapes(tensors: tuple[Tensor, ...]) -> list[tuple[int, ...]]:
    return [t.shape for t in tensors]
