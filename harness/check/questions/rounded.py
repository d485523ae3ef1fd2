"""Whole numbers, as lengths and positions, that are a whole number of blocks: 64, 128, 256 and so on in place of one.

Who runs over blocks errs where the last of them is full, or empty. One of 320 lengths is 256, and few draws have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.check.questions.changed import Pair, of_both
from opproof.harness.check.questions.structure import whole
from opproof.harness.check.questions.variants import Variant
from opproof.harness.check.tensors import CONTIGUOUS, Tensor

#: Usual blocks, the largest first: what is a whole number of that is one of all smaller.
_BLOCKS = (4096, 1024, 512, 256, 128, 64)
#: So many of them are tried.
_TRIED = 2
#: Axes of a table, as of the pages of each sequence.
_TABLE = 2


def rounded(pairs: Sequence[Pair]) -> Iterator[Variant]:
    """Variants of the first pair of draws, each with the number that is nearest to a block made that block."""
    given, _ = pairs[0]
    places = whole(given)
    for at in places:
        drawn = [draw[at].values for pair in pairs for draw in pair]
        if not _is_free(drawn, [given[i].values for i in places if i != at]):
            continue
        seen = {int(n) for v in drawn for n in np.unique(v)}
        for block in [b for b in _BLOCKS if b <= max(seen) and b not in seen][:_TRIED]:
            if (both := of_both(pairs[0], at, partial(_with, block=block))) is not None:
                name = f"{block} among {given[at].name}"
                yield Variant(name, "whole-numbers", CONTIGUOUS, *both, rare=True)


def _is_free(drawn: Sequence[Array], others: Sequence[Array]) -> bool:
    """Whether one of the numbers may be another that is drawn: in no order, of no one sum, and not made of others.

    Beside lengths may be a table with a row for each, as of pages, without marks of where it ends.
    """
    if any(v.size == 0 or v.min() < 0 for v in drawn):
        return False
    steps = np.concatenate([np.diff(v, axis=-1).ravel() for v in drawn]) if drawn[0].ndim else np.zeros(0)
    if steps.size and (steps.min() >= 0 or steps.max() <= 0):
        return False
    if all(np.array_equal(drawn[0], v) for v in drawn) or len({int(v.sum()) for v in drawn}) == 1:
        return False
    if drawn[0].size > 1 and all(np.unique(v).size == v.size for v in drawn) and any(_is_permutation(v) for v in drawn):
        return False
    return all(drawn[0].ndim == 1 and v.ndim >= _TABLE and len(v) == drawn[0].size and v.min() >= 0 for v in others)


def _is_permutation(values: Array) -> bool:
    return bool(np.array_equal(np.sort(values, axis=None), np.arange(values.size)))


def _with(t: Tensor, block: int) -> Tensor:
    made = np.array(t.values)
    made.flat[int(np.abs(t.values - block).argmin())] = block
    return t.holding(made)
