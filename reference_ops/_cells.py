"""What recurrent cells share: the products of the input and of the state with the weights of all gates at once."""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import linear

Weights = tuple[Array, Array, Array | None, Array | None]
Gradients = tuple[Array, Array, Array, Array, Array | None, Array | None]


def products(x: Array, h: Array, weights: Weights) -> tuple[Array, Array]:
    """Of x (n, k) and h (n, m), both (n, gates m)."""
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    return linear.forward(x, weight_ih, bias_ih), linear.forward(h, weight_hh, bias_hh)


def products_vjp(dx: Array, dh: Array, x: Array, h: Array, weights: Weights) -> Gradients:
    """Gradients of x, h and the weights, from those of both products."""
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    gx, gweight_ih, gbias_ih = linear.vjp(dx, dx, x, weight_ih, bias_ih)
    gh, gweight_hh, gbias_hh = linear.vjp(dh, dh, h, weight_hh, bias_hh)
    return gx, gh, gweight_ih, gweight_hh, gbias_ih, gbias_hh


def gates(z: Array, count: int) -> list[Array]:
    """The equal parts of the last axis."""
    m = z.shape[-1] // count
    return [z[..., i * m : (i + 1) * m] for i in range(count)]


def joined(*parts: Any) -> Array:
    """The inverse of `gates`."""
    return np.concatenate(parts, axis=-1)
