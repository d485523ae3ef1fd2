"""Cases drawn on and on from the spaces of operators, as long as a run has time: the same for the same seed.

Operators take turns. Of a few choices of levels the one with most triples that nothing has had yet, for its cost, is
tried; where all triples are had, any.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Collection, Iterator, Sequence

from opproof.cases import Case
from opproof.harness.space.cost import DrawnCase, cost_of, draw_some, is_computable, spaces_of
from opproof.harness.space.draw import Limits, is_allowed, with_destination
from opproof.harness.space.factors import Space
from opproof.harness.space.pairs import Triple, choose_levels, triples_of
from opproof.reference_ops import Op

#: Choices of levels of which one is tried.
CHOICES = 3
#: The part of the cases whose results are strided or in place.
SHARE_OF_DESTINATIONS = 0.08
#: Turns of floats for one of other numbers.
TURNS_OF_FLOATS = 4
#: Turns in a row in which no operator had a case, after which there is none: of each of many, and of few together.
IDLE_TURNS = 20
IDLE_TURNS_OF_FEW = 1000


def draw_on(
    ops: Sequence[Op], seed: str, accepts: Callable[[Case], bool], declined: Collection[str] = frozenset()
) -> Iterator[Case]:
    """Cases of these operators without end, each once; none where they have no space.

    `accepts` says which cases are wanted. Names in `declined`, now or later, are passed over: the others draw the same.
    """
    order = list(ops)
    random.Random(f"draw on {seed}").shuffle(order)  # noqa: S311 - draws, no secrets
    own = {op.name: random.Random(f"draw on {seed} {op.name}") for op in order}  # noqa: S311
    by_name = {op.name: op for op in order}
    load = functools.cache(lambda n: spaces_of(by_name[n]) * TURNS_OF_FLOATS + spaces_of(by_name[n], of_floats=False))
    met: dict[str, set[Triple]] = {op.name: set() for op in order}
    seen: set[Case] = set()
    idle = 0
    while idle < max(IDLE_TURNS * len(order), IDLE_TURNS_OF_FEW):
        for op in order:
            idle += 1
            if op.name in declined:
                continue
            spaces, rng = load(op.name), own[op.name]
            drawn = _draw_new(rng.choice(spaces), met[op.name], rng) if spaces else None
            if drawn is None:
                continue
            case = drawn.case if rng.random() > SHARE_OF_DESTINATIONS else with_destination(drawn.case, op, rng)
            if case in seen or not accepts(case) or not is_computable(case, op):
                continue
            met[op.name].update(triples_of(drawn.choice))
            seen.add(case)
            idle = 0
            yield case


def _draw_new(space: Space, met: set[Triple], rng: random.Random) -> DrawnCase | None:
    """The case, of a few, with most new triples for the root of its cost: large ones are to come too."""
    limits = Limits(any_size=True)
    chosen = (choose_levels(space.factors, lambda c: is_allowed(c, space, limits), rng) for _ in range(CHOICES))
    found = [d for choice in chosen if (d := draw_some(choice, space, limits))]
    return max(
        found, key=lambda d: (1 + len(triples_of(d.choice) - met)) / math.sqrt(cost_of(d.case, space.op)), default=None
    )
