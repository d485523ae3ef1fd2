"""What the products that are added to a tensor share: beta x + alpha a b, x broadcast to the product's shape."""

from collections.abc import Iterator

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast


def added(x: Array, a: Array, b: Array, beta: float, alpha: float) -> Array:
    """The sum for matrices a and b; x is not looked at where beta is 0."""
    y = alpha * np.matmul(a, b)
    return y if beta == 0 else beta * x + y  # type: ignore[no-any-return]


def added_without_product(x: Array, a: Array, b: Array, beta: float, alpha: float) -> Iterator[Array]:
    """The same where alpha is 0 and a and b are not looked at, as BLAS does; nothing else."""
    if alpha == 0:
        yield added(x, np.zeros_like(a), np.zeros_like(b), beta, alpha)


def added_vjp(g: Array, x: Array, a: Array, b: Array, beta: float, alpha: float) -> tuple[Array, Array, Array]:
    """Gradients of x, a and b."""
    h = alpha * g
    dx = np.zeros_like(x) if beta == 0 else unbroadcast(beta * g, x.shape)
    return dx, np.matmul(h, np.swapaxes(b, -1, -2)), np.matmul(np.swapaxes(a, -1, -2), h)
