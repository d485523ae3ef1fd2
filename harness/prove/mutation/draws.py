"""Mutants of what an operator draws: answers that are right for a draw which is no chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.prove.mutation.arrays import Arrays
from opproof.harness.prove.mutation.call import Call
from opproof.harness.prove.mutation.mutant import Mutant, Profile

Change = Callable[[Array], Array]


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode; of gradients those that draw anew are among the parameters' mutants."""
    if not profile.op.drawn_from or profile.mode != "forward":
        return
    for count in (32, 64, 256, 1024):
        yield Mutant(f"the draw repeats itself after {count}", _drawing(_again(count)))
    for count in (256, 1024):
        yield Mutant(f"nothing drawn past the last whole {count}", _drawing(_rest(count)))
    yield Mutant("the first row's draw for every row", _drawing(_of_first_row))
    yield Mutant("one draw for a whole row", _drawing(_of_first_column))
    yield Mutant("one draw for two neighbours", _drawing(_in_pairs))
    yield Mutant("each draw the opposite of the one before", _drawing(_alternating))
    yield Mutant("drawn the wrong way round", _drawing(np.logical_not))


def _drawing(change: Change) -> Callable[[Call], Arrays]:
    """The answer to the draw changed, which is the only output of truth values."""

    def results(call: Call) -> Arrays:
        outputs = [d if d is None or d.dtype != np.bool_ or not d.size else change(d) for d in call.right]
        assert call.op.drawn is not None
        return call.again(inputs=call.op.drawn(tuple(outputs), *call.inputs, **call.params))

    return results


def _flat(like: Array, values: Array) -> Array:
    return values.reshape(like.shape)


def _again(count: int) -> Change:
    return lambda d: _flat(d, np.resize(d.reshape(-1)[:count], d.size))


def _rest(count: int) -> Change:
    def change(d: Array) -> Array:
        at = np.arange(d.size).reshape(d.shape)
        return d | (at >= d.size - d.size % count)

    return lambda d: d if d.size < count else change(d)


def _in_pairs(d: Array) -> Array:
    return _flat(d, np.repeat(d.reshape(-1)[::2], 2)[: d.size])


def _of_first_row(d: Array) -> Array:
    return np.broadcast_to(d[:1], d.shape).copy() if d.ndim > 1 else d


def _of_first_column(d: Array) -> Array:
    return np.broadcast_to(d[..., :1], d.shape).copy() if d.ndim > 1 else d


def _alternating(d: Array) -> Array:
    flat = d.reshape(-1).copy()
    flat[1::2] = ~flat[: flat.size - 1 : 2]
    return _flat(d, flat)
