"""Random numbers of a reference: those that it draws in its own dtype are those of its evaluation in float64.

Generators give other numbers in float64 than in float32, so a seed alone does not make both alike.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opproof.harness.truth.torch.arithmetic import copied
from opproof.harness.truth.torch.intercepted import intercepted
from opproof.harness.truth.torch.ranges import look


@dataclass(frozen=True)
class Draw:
    """What one operation drew."""

    name: str
    values: tuple[Any, ...]


@functools.cache  # it is asked at every operation
def draws(func: Any) -> bool:
    """Whether an operation draws at random, by itself."""
    import torch

    if not hasattr(func, "_schema"):  # of one that takes functions it is theirs
        return False
    name = func._schema.name.partition("::")[2]
    return torch.Tag.nondeterministic_seeded in func.tags and "dropout" not in name and name[0] != "_"


@contextlib.contextmanager
def recorded() -> Iterator[list[Draw]]:
    """A block of which the random draws are kept, in order. Raises IndexError; see `ranges`."""
    found: list[Draw] = []

    def kept(_: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        look(func, args, kwargs)
        y = func(*args, **kwargs)
        if draws(func):
            found.append(Draw(func._schema.name, copied(y if isinstance(y, tuple) else (y,))))
        return y

    with intercepted(kept):
        yield found
