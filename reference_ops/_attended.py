"""What the attentions of several layouts share: queries of (..., heads, q, e) over keys of (..., groups, k, e).

Head h reads group h // (heads / groups); `seen`, which broadcasts to (..., heads, q, k), says which scores count. A
query that sees no key gives zeros. What no query sees is not multiplied by its probability of zero, since it may be
anything.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._attention import recomputed_softmax, softmax
from opproof.reference_ops._shift import through_the_largest
from opproof.reference_ops._torch import widened


def _t(m: Array) -> Array:
    return np.swapaxes(m, -1, -2)


def _grouped(x: Array, heads: int) -> Array:
    return np.repeat(x, heads // max(x.shape[-3], 1), axis=-3)


def _gathered(dx: Array, shape: tuple[int, ...]) -> Array:
    split = np.reshape(dx, (*dx.shape[:-3], shape[-3], dx.shape[-3] // max(shape[-3], 1), *dx.shape[-2:]))
    return np.sum(split, axis=-3)  # type: ignore[no-any-return]


def _scaled(query: Array, scale: float | None) -> float:
    return 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale


def _scores(query: Array, key: Array, seen: Array, scale: float | None) -> Array:
    return np.where(seen, np.matmul(query, _t(key)) * _scaled(query, scale), -np.inf)


def attended(query: Array, key: Array, value: Array, seen: Array, scale: float | None) -> Array:
    """softmax(scale q kᵀ) v over what is seen: (..., heads, q, f)."""
    k, v = (_grouped(x, query.shape[-3]) for x in (key, value))
    return np.matmul(softmax(_scores(query, k, seen, scale))[0], v)  # type: ignore[no-any-return]


def attended_vjp(
    g: Array,
    y: Array,
    query: Array,
    key: Array,
    value: Array,
    seen: Array,
    scale: float | None,
) -> tuple[Array, Array, Array]:
    """Gradients of query, key and value."""
    k, v = (_grouped(x, query.shape[-3]) for x in (key, value))
    scores = _scores(query, k, seen, scale)
    p, _ = recomputed_softmax(scores, _scores(query, k, seen, scale))
    dscores = through_the_largest(p * (np.matmul(g, _t(v)) - np.sum(g * y, axis=-1, keepdims=True)), p, -1)
    dscores = dscores * _scaled(query, scale)
    dkey, dvalue = np.matmul(_t(dscores), query), np.matmul(_t(p), g)
    return np.matmul(dscores, k), _gathered(dkey, key.shape), _gathered(dvalue, value.shape)


def torch_attended(torch: Any, query: Any, key: Any, value: Any, seen: Any, scale: float | None) -> Any:
    """The same in PyTorch, nothing rounded to 16 bits between: zeros where nothing is seen."""
    sdpa, (q, k, v) = torch.nn.functional.scaled_dot_product_attention, widened(torch, query, key, value)
    return sdpa(q, k, v, seen, scale=scale, enable_gqa=True).to(query.dtype)
