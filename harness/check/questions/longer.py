"""Lists of tensors longer than any draw has, where draws have them of several lengths: a kernel may hold eight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from opproof.harness.check.questions.crossed import keys_of

#: So many tensors at least; draws of so many seeds tell whether lengths differ.
_LONG, _SEEDS = 20, 6


@dataclass(frozen=True)
class Longer:
    """A factory of draws whose lists are those of several seeds, one after the other."""

    name: str  # what it is called
    draw: Callable[[int], Any]
    keys: tuple[Any, ...]  # of the lists, which have as many tensors each

    def __call__(self, seed: int) -> Any:
        made = self.draw(seed)
        given: Any = dict(made) if isinstance(made, Mapping) else list(made)
        while len(given[self.keys[0]]) < _LONG:
            seed += _SEEDS
            more = self.draw(seed)
            for key in self.keys:
                given[key] = type(given[key])([*given[key], *more[key]])
        return given


def longer(draw: Callable[[int], Any], first: int) -> list[Longer]:
    """The draws with longer lists, one factory; none where all draws have lists of one length, or one is empty."""
    some = [draw(seed) for seed in range(first, first + _SEEDS)]
    keys = [key for key in keys_of(some[0]) if all(key in keys_of(made) and _is_list(made[key]) for made in some)]
    lengths = {key: [len(made[key]) for made in some] for key in keys}
    varying = [key for key in keys if len(set(lengths[key])) > 1]
    alike = tuple(key for key in varying if lengths[key] == lengths[varying[0]])
    if not alike or max(lengths[alike[0]]) >= _LONG:
        return []
    return [Longer(f"lists of {_LONG} tensors or more", draw, alike)]


def _is_list(value: Any) -> bool:
    """Whether it is a list of tensors, one at least."""
    return type(value) in (list, tuple) and len(value) > 0 and all(hasattr(x, "shape") for x in value)
