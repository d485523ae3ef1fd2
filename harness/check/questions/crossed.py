"""Options that draws have and no draw has together: a weight for some seeds, smoothing for others.

An argument of one draw is put into another: what is wrong where two options meet is right for each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from opproof.harness.check.questions.variants import name_of
from opproof.harness.check.sides.generators import stilled

#: So many meetings are tried, of draws of so many seeds; and so many seeds are looked at for draws like one.
_MOST, _SEEDS, _LONGEST = 6, 6, 24


@dataclass(frozen=True)
class Crossed:
    """A factory of draws with the options of one seed, but some arguments as they are drawn for others."""

    name: str  # what the meeting is called
    draw: Callable[[int], Any]
    seeds: tuple[int, ...]  # of draws with the same options
    instead: Mapping[Any, Any]
    first: int  # the seed that counts as the first

    def __call__(self, seed: int) -> Any:
        made = self.draw(self.seeds[(seed - self.first) % len(self.seeds)])
        given: Any = dict(made) if isinstance(made, Mapping) else list(made)
        for key, value in self.instead.items():
            given[key] = value
        return given


def crossed(draw: Callable[[int], Any], first: int, names: Sequence[str]) -> list[Crossed]:
    """Meetings of options that draws of the first seeds have apart."""
    return list(islice(_crossed(draw, first, names), _MOST))


def _crossed(draw: Callable[[int], Any], first: int, names: Sequence[str]) -> Iterator[Crossed]:
    some = {seed: draw(seed) for seed in range(first, first + _SEEDS)}
    if len({tuple(keys_of(made)) for made in some.values()}) > 1:
        return
    options = {seed: _options(made) for seed, made in some.items()}
    later = functools.cache(lambda seed: _options(draw(seed)))  # each seed is drawn once
    seen = {tuple(of.values()) for of in options.values()}

    def meeting(a: int, instead: Mapping[Any, int]) -> Crossed:
        """The draws of seed `a`, with some arguments of other seeds."""
        others = (s for s in range(first, first + _LONGEST) if s != a)
        alike = [a, *(s for s in others if (options[s] if s in options else later(s)) == options[a])]
        labels = {key: key if isinstance(key, str) else name_of(names, key) for key in instead}
        text = " and ".join(f"{labels[key]} of seed {b}" for key, b in instead.items())
        values = {key: some[b][key] for key, b in instead.items()}
        return Crossed(f"seed {a} with {text}", draw, tuple(alike), values, first)

    every = {
        key: next(b for b in some if options[b][key] != option)
        for key, option in options[first].items()
        if any(options[b][key] != option for b in some)
    }
    together = tuple({**options[first], **{key: options[b][key] for key, b in every.items()}}.values())
    if len(set(every.values())) > 1 and together not in seen:
        seen.add(together)
        yield meeting(first, every)
    for a, b in product(some, repeat=2):
        differing = [key for key, option in options[a].items() if option != options[b][key]]
        for key in differing if len(differing) > 1 else ():
            met = tuple({**options[a], key: options[b][key]}.values())
            if met in seen:
                continue
            seen.add(met)
            yield meeting(a, {key: b})


def keys_of(made: Any) -> list[Any]:
    """Names or places of the arguments of a draw; none where it is neither a mapping nor a list."""
    if isinstance(made, Mapping):
        return list(made)
    return list(range(len(made))) if isinstance(made, list | tuple) else []


def _options(made: Any) -> dict[Any, str]:
    return {key: _option(made[key]) for key in keys_of(made)}


def _option(value: Any) -> str:
    """What an argument is beside the numbers in its tensors, in words that are equal where it is."""
    from torch.utils._pytree import tree_flatten

    leaves, spec = tree_flatten(value)
    return repr((["a tensor" if hasattr(leaf, "shape") else stilled(leaf) for leaf in leaves], str(spec)))
