"""Recurrences over tokens with a matrix as state: sums and products of its rows and columns, and steps in time.

Tensors are (n, tokens, heads, ...), as `steps` takes them apart and `stacked` puts them together.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from opproof.vocabulary.arrays import Array


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
    t = decay.shape[1]
    i, s, m = torch.arange(t + 1)[:, None, None], torch.arange(t + 1)[:, None], torch.arange(t)
    since = ((m >= s) & (m < i))[None, ..., None, None]
    products = torch.where(since, decay[:, None, None], torch.ones((), dtype=decay.dtype)).prod(3)
    past = (s <= i).reshape(1, t + 1, t + 1, 1, 1)
    return torch.einsum("nishd,nshde->nihde", products * past, torch.cat([state[:, None], writes], dim=1))
