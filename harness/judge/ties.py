"""Equal elements may change places: sorting owes no order among them to the gradient.

Where an operator names its ties, the gradients of a group of equal elements may stand there in any order, and
may be shared: every average of such orders is a generalised gradient (Clarke's). Rado's theorem says which
vectors those averages are: the k largest never sum to more than the k largest expected, and all sum to the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.judge.bound import C, Comparison, compare
from opproof.harness.reference.expected import Expected


def in_any_order(
    got: Array,
    expected: Expected,
    groups: NDArray[np.int64],
    plain: Comparison,
    dtype: str,
    *,
    strict_subnormals: bool = False,
) -> tuple[Comparison, str]:
    """`plain` with the groups that pass in another order, or shared, passed; a message where there is one.

    `groups` has the shape of `got`: a number from 0 for each group, the same for elements that are equal.
    """
    if plain.right:
        return plain, ""
    paired = _paired(got, expected, groups, dtype, strict_subnormals)
    right = np.ones(groups.max() + 1, dtype=bool)
    np.logical_and.at(right, groups, paired.passed)
    shared = np.zeros_like(right)
    several = np.bincount(groups.ravel(), minlength=right.size) > 1  # one by itself has nothing to share with
    for g in np.flatnonzero(~right & several):
        here = groups == g
        bound = plain.bound[here] + C * DTYPES[dtype].u * np.abs(expected.values[here])  # an average rounds
        shared[g] = _averages(np.asarray(got[here], dtype=np.float64), expected.values[here], bound)
    result = plain.excusing((right | shared)[groups] & ~plain.passed)
    how = "are shared among them" if shared.any() else "stand in another order"
    return result, f"gradients of equal elements {how}" if result.right else ""


def _paired(got: Array, expected: Expected, groups: NDArray[np.int64], dtype: str, strict: bool) -> Comparison:
    """The smallest found of each group against the smallest expected, and so on."""
    labels = groups.ravel()
    there = np.lexsort((expected.values.ravel(), labels))
    here = np.lexsort((np.asarray(got, dtype=np.float64).ravel(), labels))
    paired = np.empty_like(got).ravel()
    paired[there] = got.ravel()[here]
    return compare(paired.reshape(got.shape), expected, dtype, strict_subnormals=strict)


def _averages(got: NDArray[np.float64], expected: Array, bound: NDArray[np.float64]) -> bool:
    """Whether `got` is an average of orders of `expected`, up to the bounds of the elements summed."""
    largest = np.argsort(-expected)
    slack = np.cumsum(bound[largest])
    excess = np.cumsum(np.sort(got)[::-1]) - np.cumsum(expected[largest])
    return bool((excess <= slack).all() and -excess[-1] <= slack[-1])  # a NaN passes neither
