"""Arguments beside tensors, as steps, windows and flags, that a factory draws otherwise for other seeds."""

from __future__ import annotations

from collections.abc import Mapping

from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.sides.subject import Arguments
from opproof.harness.check.tensors import CONTIGUOUS, Tensor

#: Of so many others each is tried once.
_OTHERS = 3


def otherwise(draws: Mapping[int, tuple[Arguments, tuple[Tensor, ...]]]) -> tuple[Variant, ...]:
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


def _shapes(tensors: tuple[Tensor, ...]) -> list[tuple[int, ...]]:
    return [t.shape for t in tensors]
