"""What the products that are added to a tensor share: beta x + alpha a b, x broadcast to the product's shape."""

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast


def added(x: Array, a: Array, b: Array, beta: float, alpha: float) -> Array:
    """The sum for matrices a and b; x is not looked at where beta is 0."""
    y = alpha * np.matmul(a, b)
    return y if beta == 0 else beta * x + y  # type: ignore[no-any-return]


def added_vjp(g: Array, x: Array, a: Array, b: Array, beta: float, alpha: float) -> tuple[Array, Array, Array]:
    """Gradients of x, a and b."""
    h = alpha * g
    dx = np.zeros_like(x) if beta == 0 else unbroadcast(beta * g, x.shape)
    return dx, np.matmul(h, np.swapaxes(b, -1, -2)), np.matmul(np.swapaxes(a, -1, -2), h)
