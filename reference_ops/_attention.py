"""What attention has in common: ALiBi's slopes, softmax with a sink, groups of heads that share keys."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.reference_ops._shift import through_the_largest


def slope_exponents(heads: int, max_bias: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """ALiBi's slope of head h is 2 ** (first[h] * times[h]) (Press, Smith, Lewis, 2022; max_bias is 8 there).

    The largest power of two of heads gets a geometric sequence, the heads beyond it every second
    member of the sequence that twice as many would have.
    """
    whole = 2 ** math.floor(math.log2(max(heads, 1)))
    h = np.arange(heads)
    first = np.where(h < whole, -max_bias / whole, -max_bias / 2 / whole)
    return first, np.where(h < whole, h + 1.0, 2.0 * (h - whole) + 1)


def slopes(heads: int, max_bias: float, like: Array) -> Array:
    """ALiBi's slopes (heads, 1, 1), computed as a kernel does, so that noise knows of their rounding."""
    first, times = slope_exponents(heads, max_bias)
    dtype = np.real(like).dtype
    base = np.exp2(np.full((heads, 1, 1), np.reshape(first, (heads, 1, 1)), dtype=dtype, like=like))
    return np.power(base, np.reshape(times, (heads, 1, 1)).astype(dtype))  # type: ignore[no-any-return]


def torch_slopes(torch: Any, heads: int, max_bias: float, like: Any) -> Any:
    """The same in PyTorch, head by head from the definition."""
    whole = 1
    while 2 * whole <= heads:
        whole *= 2
    exponents = [(h + 1) / whole if h < whole else (2 * (h - whole) + 1) / (2 * whole) for h in range(heads)]
    return torch.tensor([2.0 ** (-max_bias * e) for e in exponents], dtype=like.dtype).reshape(heads, 1, 1)


def softmax(scores: Array, sinks: Array | None = None) -> tuple[Array, Array | None]:
    """Softmax of the last axis and, per row, the probability of its sink; zeros where every score is -inf.

    A sink (heads,) of scores (..., heads, q, k) is one more score in each row that has no column.
    """
    if scores.shape[-1] == 0:
        return scores, None
    e, drained, total, _ = _exponentials(scores, sinks)
    return e / total, None if drained is None else drained / total


def recomputed_softmax(scores: Array, again: Array, sinks: Array | None = None) -> tuple[Array, Array | None]:
    """`softmax` as a backward pass computes it that has each row's logsumexp alone: exp(score - logsumexp).

    The numbers are the same. But `again`, the same scores computed once more, is not rounded as the scores of the
    logsumexp were: one pass may scale the product where the other scales the keys. So the share of a key that has
    nearly all is not 1, and scores of 10^5 in float32 are off by 1 %. And what rounding the logsumexp changes, all
    shares of the row have alike: it shows where a key comes twice, whose shares are added up. Where one key has nearly
    all, the logsumexp is its score, and nothing is rounded.
    Source: Dao et al., FlashAttention (2022), algorithm 4; Triton's tutorial 06 scales the keys in its backward pass.
    """
    if scores.shape[-1] == 0:
        return scores, None
    e, drained, total, top = _exponentials(scores, sinks)
    logarithm = np.log(total)
    rounding = np.where(np.real(logarithm) > 0.5, (top + logarithm) - (top + logarithm), 0)
    seen = np.isfinite(np.real(scores))
    moved = np.where(seen, again, 0) - np.where(seen, scores, 0)
    shares: Array = e / total * (1 + (moved + rounding))
    return shares, None if drained is None else drained / total * (1 + rounding)


def _exponentials(scores: Array, sinks: Array | None) -> tuple[Array, Array | None, Array, Array]:
    """exp(scores - top), that of the sinks, their sum, 1 where there is none, and top, the largest of each row."""
    top = np.max(np.real(scores), axis=-1, keepdims=True)
    sink = None if sinks is None else np.reshape(sinks, (-1, 1, 1))
    top = top if sink is None else np.maximum(top, np.real(sink))
    top = np.where(top > -np.inf, top, 0)
    e = np.exp(scores - top)
    total = np.sum(e, axis=-1, keepdims=True)
    if sink is None:
        return e, None, np.where(total != 0, total, 1), top
    drained = np.exp(sink - top)
    return e, drained, total + drained, top


def softmax_vjp(g: Array, p: Array) -> Array:
    """Gradient with respect to the scores, from the probabilities."""
    return through_the_largest(p * (g - np.sum(g * p, axis=-1, keepdims=True)), p, -1)


def torch_softmax(torch: Any, scores: Any, sinks: Any) -> Any:
    """The same in PyTorch: the sink is one more column, dropped afterwards; a row of -inf gives zeros."""
    if sinks is not None:
        column = sinks.reshape(-1, 1, 1).expand(*scores.shape[:-1], 1)
        return torch.softmax(torch.cat([scores, column], dim=-1), dim=-1)[..., :-1]
    empty = (scores == -torch.inf).all(dim=-1, keepdim=True)
    return torch.softmax(scores.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)
