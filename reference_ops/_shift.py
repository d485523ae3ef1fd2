"""What a softmax's gradient rounds where its shift, the largest of the row, is differentiated too."""

import numpy as np

from opproof.core.arrays import Array


def through_the_largest(ds: Array, shares: Array, axis: int) -> Array:
    """`ds`, gradients of scores, with the rounding of their sum where `shares` are the largest along `axis`.

    exp(x - max(x)) / sum exp(x - max(x)) does not change with max(x): its gradient is the sum of all others with the
    sign turned, which is 0. Autograd that is not told so (no detach, no stop_gradient) adds it up, and sends what that
    rounds to the largest x. Values are what they were: a sum less itself.
    """
    if not shares.ndim or not shares.shape[axis]:
        return ds
    largest = shares == np.max(np.real(shares), axis=axis, keepdims=True)
    nothing = np.sum(ds, axis=axis, keepdims=True) - np.sum(ds, axis=axis, keepdims=True)
    return np.where(largest, ds + nothing, ds)
