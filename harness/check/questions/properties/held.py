"""What the values of an input are in every draw: in order, of length 1, probabilities, symmetric. All that is tried is.

A kernel for sorted edges, unit quaternions or covariances may do with other numbers what it likes. What is not so by
chance (ten bits) is kept in every variant: restored where values were changed, and where it cannot be, they stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.check.questions.properties.kinds import BITS, Property, properties
from opproof.harness.check.tensors import PARTS, Tensor


def varies(tensor: Tensor) -> bool:
    """Whether it has other values as well: floats that are no labels and no mask."""
    return bool(tensor.kind) and not tensor.param and not tensor.marks


def held(draws: Sequence[Tensor]) -> tuple[Property, ...]:
    """The properties that one input has in all of its draws."""
    first = draws[0]
    if not varies(first) or first.dtype in PARTS:
        return ()
    alike = all(t.kind == first.kind and t.values.ndim == first.values.ndim for t in draws)
    if not alike or not all(t.values.size and np.isfinite(t.values).all() for t in draws):
        return ()
    u, some = DTYPES[first.kind].u, []
    for p in properties(first.values.shape):
        bits = 0.0
        for t in draws:
            if not (told := p.bits(t.values, u)):
                break
            bits += told if t is first or not np.array_equal(t.values, first.values) else 0.0  # a table tells once
        else:
            if bits >= BITS:
                some.append(p)
    return tuple(some)


def keeping(some: Sequence[Property], tensor: Tensor, values: Array, *, placed: bool = True) -> Tensor | None:
    """The tensor holding `values`, once it has its properties again; None where it cannot have them.

    `placed`: the values stand where those of the tensor stood.
    """
    made = tensor.holding(values)
    some = [p for p in some if (placed or not p.in_places) and values.size]
    u = DTYPES[tensor.kind].u if some else 0.0
    for p in some:
        if not p.bits(made.values, u):
            made = tensor.holding(p.restored(tensor.values, made.values))
    return made if all(p.bits(made.values, u) for p in some) else None
