"""Levels of factors chosen together: which pairs are still open, a choice that covers many, and any at all.

What a choice is made into, an operator's case or a variant of a check, is no matter here.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

#: The level of each factor.
Choice = Mapping[str, str]
#: The levels of each factor.
Factors = Mapping[str, Sequence[str]]
#: Whether some levels go together.
Allows = Callable[[Choice], bool]
Triple = tuple[tuple[str, str], ...]
#: Tries of a pair before it counts as one that nothing has.
ATTEMPTS = 3
#: Levels that are tried of a factor until one goes with the others.
LEVELS_TRIED = 6


class PairTable:
    """Which pairs of levels are still open; levels of all factors have numbers.

    `covered`: pairs that count as had. `alike`: which levels of a factor stand for one another, as sizes of one class,
    but beside those in `fine`.
    """

    def __init__(
        self, factors: Factors, allows: Allows, covered: Allows | None = None,
        alike: Callable[[str, str], object] | None = None, fine: Iterable[tuple[str, str]] = (),
    ) -> None:  # fmt: skip
        self.factors, self.allows = factors, allows
        self.names = [(name, level) for name, levels in factors.items() for level in levels]
        self.number = {named: i for i, named in enumerate(self.names)}
        self.of_factor = {name: [self.number[name, level] for level in levels] for name, levels in factors.items()}
        size = len(self.names)
        self.open = np.zeros((size, size), bool)
        for (i, (a, x)), (j, (b, y)) in itertools.combinations(enumerate(self.names), 2):
            pair = {a: x, b: y}
            if a != b and allows(pair) and not (covered and covered(pair)):
                self.open[i, j] = self.open[j, i] = True
        kinds = [alike(name, level) if alike else i for i, (name, level) in enumerate(self.names)]
        self.blocks = np.array([[kind == other for other in kinds] for kind in kinds], bool)
        self.blocks[[self.number[named] for named in fine]] = False
        self.failures: Counter[tuple[int, int]] = Counter()

    def pick_open(self, rng: random.Random) -> tuple[int, int] | None:
        """An open pair: of the level with most of them."""
        counts = self.open.sum(1)
        i = int(counts.argmax())
        return (i, int(rng.choice(np.flatnonzero(self.open[i]).tolist()))) if counts[i] else None

    def grow(self, pair: tuple[int, int], rng: random.Random) -> dict[str, str]:
        """A choice of levels with this pair; each further factor takes the allowed level with most open pairs."""
        chosen = list(pair)
        choice = dict(self.names[i] for i in pair)
        others = [name for name in self.factors if name not in choice]
        rng.shuffle(others)
        for name in others:
            levels = self.of_factor[name]
            gains = self.open[levels][:, chosen].sum(1).tolist()
            order = sorted(range(len(levels)), key=lambda k: (-gains[k], rng.random()))
            for k in order:
                level = self.names[levels[k]][1]
                if self.allows({**choice, name: level}):
                    choice[name] = level
                    chosen.append(levels[k])
                    break
            else:
                choice[name] = self.factors[name][0]
        return choice

    def gain_of(self, choice: Choice) -> int:
        """How many open pairs a choice covers."""
        ids = [self.number[named] for named in choice.items()]
        return int(self.open[np.ix_(ids, ids)].sum()) // 2

    def cover(self, choice: Choice) -> None:
        """Close the pairs of a choice, and those that they stand for."""
        ids = [self.number[named] for named in choice.items()]
        self.open[np.ix_(ids, ids)] = False
        stand = np.flatnonzero(self.blocks[ids].any(0))
        self.open[np.ix_(stand, stand)] = False

    def note_failure(self, pair: tuple[int, int]) -> None:
        """Give the pair up where nothing could be made of it often enough."""
        self.failures[pair] += 1
        if self.failures[pair] >= ATTEMPTS:
            self.open[pair[0], pair[1]] = self.open[pair[1], pair[0]] = False


def choose_levels(factors: Factors, allows: Allows, rng: random.Random) -> dict[str, str]:
    """A level of each factor, any that goes with those before it, the factors in any order."""
    choice: dict[str, str] = {}
    names = list(factors)
    rng.shuffle(names)
    for name in names:
        levels = list(factors[name])
        rng.shuffle(levels)
        choice[name] = next((v for v in levels[:LEVELS_TRIED] if allows({**choice, name: v})), factors[name][0])
    return choice


def triples_of(choice: Choice) -> set[Triple]:
    """Every three levels of a choice."""
    return set(itertools.combinations(sorted(choice.items()), 3))
