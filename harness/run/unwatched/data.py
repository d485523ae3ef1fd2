"""The numbers that a program calls with: those of the record, others, and what training and batches make of them."""

from __future__ import annotations

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.reference.chunks.question import Pair
from opproof.harness.reference.question import Posed

#: Every third row has no loss, the first too, as of tokens that are masked.
_MASKED = 3
#: The cotangent of a mean, or of a loss that is scaled: a power of two, which every dtype has.
_MEAN = 2.0**-6


def data_of(pair: Pair) -> dict[str, Posed]:
    """The questions of a record, by name."""
    some = {"asked": pair.asked, "other": pair.other}
    if pair.asked.op.domain is None:  # its numbers need not fit each other
        some["element"] = pair.asked.given(inputs=tuple(map(_with_another_element, pair.asked.inputs)))
    return some


def losses_of(pair: Pair) -> dict[str, Posed]:
    """The question of a gradient with the cotangents of losses, by name; none of a forward."""
    cotangents = pair.asked.cotangents
    if not cotangents:
        return {}
    some = {
        "cotangent of ones": [None if g is None else np.ones_like(g) for g in cotangents],
        "cotangent of a mean": [None if g is None else np.full_like(g, _MEAN) for g in cotangents],
        "cotangent with rows of zeros": [_masked(g) for g in cotangents],
    }
    return {name: pair.asked.given(cotangents=tuple(gs)) for name, gs in some.items()}


def _with_another_element(x: Array | None) -> Array | None:
    """Floats of which one, in the middle, is another of its row: numbers that are together as they were."""
    if x is None or x.dtype.kind != "f" or not x.size or not x.ndim:
        return x
    changed = x.copy()
    row = changed.reshape(-1, x.shape[-1])[x.size // x.shape[-1] // 2]
    others = np.flatnonzero(row != row[len(row) // 2])
    if others.size:
        row[len(row) // 2] = row[others[0]]
    return changed


def _masked(g: Array | None) -> Array | None:
    if g is None or not g.ndim:
        return g
    masked = g.copy()
    masked[::_MASKED] = 0
    return masked
