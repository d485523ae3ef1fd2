"""What arithmetic in integers passes through: sums of the positive terms alone, and of the negative ones.

Every sum of some of the terms, in whatever order they are added, lies between the two.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array


def of_one_sign(total: Callable[..., Array], *terms: Array) -> Iterator[Array]:
    """`total`, a sum of its tensors' elements, of the positive elements of them all and of the negative ones."""
    for part in (np.maximum, np.minimum):
        yield total(*(part(t, 0) for t in terms))


def of_products(product: Callable[..., Array], a: Array, b: Array) -> Iterator[Array]:
    """`product`, a sum of products of elements of a and b, of the positive products and of the negative ones."""
    (up, down), (above, below) = ((np.maximum(t, 0), np.minimum(t, 0)) for t in (a, b))
    yield product(up, above) + product(down, below)
    yield product(up, below) + product(down, above)


def of_sizes(product: Callable[..., Array], x: Array) -> Iterator[Array]:
    """`product` of the elements' sizes, none of them less than 1: no product of some of them is larger."""
    yield product(np.maximum(np.abs(x), 1))


def quotient(a: Array, b: Array, **_: Any) -> Iterator[Array]:
    """What a remainder is taken of: the least number by -1 is past the largest."""
    yield np.trunc(a / b)
