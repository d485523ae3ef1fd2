"""Recurrences over tokens with a matrix as state: sums and products of its rows and columns, and steps in time.

Tensors are (n, tokens, heads, ...), as `steps` takes them apart and `stacked` puts them together.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from opproof.core.arrays import Array


def steps(*xs: Array) -> list[tuple[Array, ...]]:
    """The slices of all tensors, token by token."""
    return [tuple(x[:, t] for x in xs) for t in range(xs[0].shape[1])]


def stacked(slices: Sequence[Array]) -> Array:
    """The inverse of `steps` for one tensor."""
    return np.stack(slices, axis=1)


def backwards(columns: Sequence[Sequence[Array]]) -> list[Array]:
    """Several tensors from their slices gathered in reverse: one (token: several slices) list, last token first."""
    return [stacked(column[::-1]) for column in zip(*columns, strict=True)]


def outer(a: Array, b: Array) -> Array:
    """a_i b_j."""
    return a[..., :, None] * b[..., None, :]


def from_left(a: Array, m: Array) -> Array:
    """Σ_i a_i m_ij."""
    return np.matmul(a[..., None, :], m)[..., 0, :]  # type: ignore[no-any-return]


def from_right(m: Array, b: Array) -> Array:
    """Σ_j m_ij b_j."""
    return np.matmul(m, b[..., None])[..., 0]  # type: ignore[no-any-return]


def torch_states(torch: Any, decay: Any, writes: Any, state: Any) -> Any:
    """All states S_0 = state, S_(t+1) = decay_t S_t + writes_t at once, for the PyTorch twins: (n, tokens + 1, ...).

    Not step by step: S_i is the sum over what was written before i of it times the product of the decays since.
    decay (n, t, heads, d) scales rows of writes (n, t, heads, d, e).
    """
    i = torch.arange(decay.shape[1] + 1)
    past = (i >= i[:, None])[None, ..., None, None]  # (1, written before s, state i, 1, 1)
    products = torch.where(past[:, :, :-1], decay[:, None], torch.ones((), dtype=decay.dtype)).cumprod(2)
    products = torch.cat([torch.ones_like(products[:, :, :1]), products], dim=2) * past
    return torch.einsum("nsihd,nshde->nihde", products, torch.cat([state[:, None], writes], dim=1))


def torch_products(transition: Any, writes: Any, state: Any) -> list[Any]:
    """All states S_0 = state, S_(t+1) = S_t T_t + writes_t, T_t a matrix each, for the PyTorch twins: tokens + 1."""
    states = [state]
    for matrix, written in zip(transition.unbind(1), writes.unbind(1), strict=True):
        states.append(states[-1] @ matrix + written)
    return states
