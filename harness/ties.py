"""Equal elements may change places: sorting owes no order among them to the gradient.

Where an operator names its ties, the gradients of each group of equal elements may stand there in any
order: the smallest found is set against the smallest expected, and so on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.harness.compare import Comparison, compare
from opproof.harness.reference import Expected

Array = NDArray[Any]


def in_any_order(
    got: Array, expected: Expected, groups: NDArray[np.int64], plain: Comparison, dtype: str
) -> tuple[Comparison, str]:
    """`plain` with the groups that pass in another order passed; a message where there is one.

    `groups` has the shape of `got`: a number from 0 for each group, the same for elements that are equal.
    """
    if plain.passed.all():
        return plain, ""
    labels = groups.ravel()
    there = np.lexsort((expected.values.ravel(), labels))
    here = np.lexsort((np.asarray(got, dtype=np.float64).ravel(), labels))
    paired = np.empty_like(got).ravel()
    paired[there] = got.ravel()[here]
    found = compare(paired.reshape(got.shape), expected, dtype)
    right = np.ones(labels.max() + 1, dtype=bool)
    np.logical_and.at(right, labels, found.passed.ravel())
    passed = plain.passed | right[groups]
    message = "gradients of equal elements stand in another order" if passed.all() else ""
    return Comparison(np.where(right[groups], found.units, plain.units), plain.bound, passed), message
