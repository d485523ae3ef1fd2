"""tinygrad's methods by operator: reductions, scans, linear algebra. See pointwise.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tinygrad import Tensor, dtypes

from opproof.backends.protocol import Unsupported


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    """`dim` and `keepdim` under tinygrad's names."""
    return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdim=keepdim)


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *, dim, correction, keepdim: function(x, axis=dim, keepdim=keepdim, correction=correction)


def _outer_product(a: Any, b: Any) -> Any:
    if a.ndim > 2 or b.ndim > 2:
        raise Unsupported("tinygrad's einsum has no ellipsis")
    return Tensor.einsum("m,n->mn" if a.ndim == 1 else "km,kn->mn", a, b)


def _dot(a: Any, b: Any) -> Any:
    return a.dot(b)


def _diag(x: Any, *, diagonal: int) -> Any:
    if diagonal:
        raise Unsupported("tinygrad's diag and diagonal know the main one only, or lower ones by another name")
    return x.diag() if x.ndim == 1 else x.diagonal()


def _causal(x: Any, n_past: int) -> Any:
    return Tensor.ones(x.shape[-2], x.shape[-1], dtype=dtypes.bool).tril(n_past)


TABLE: dict[str, Callable[..., Any]] = {
    # Reductions and scans
    "sum": _along(Tensor.sum),
    "mean": _along(Tensor.mean),
    "prod": _along(Tensor.prod),
    "amax": _along(Tensor.max),
    "amin": _along(Tensor.min),
    "all": _along(Tensor.all),
    "any": _along(Tensor.any),
    "argmax": _along(Tensor.argmax),
    "argmin": _along(Tensor.argmin),
    "var": _spread(Tensor.var),
    "std": _spread(Tensor.std),
    "logsumexp": _along(Tensor.logsumexp),
    "cumsum": lambda x, *, dim: x.cumsum(dim),
    "cumprod": lambda x, *, dim: x.cumprod(dim),
    "count_equal": lambda a, b: a.eq(b).sum(),
    # Linear algebra
    "matmul": Tensor.matmul,
    "bmm": Tensor.matmul,
    "dot": _dot,
    "linear": lambda x, weight, bias=None: x.linear(weight.transpose(), bias),
    "outer_product": _outer_product,
    "add_id": lambda a, b, ids: a + b[ids],
    "tril": lambda x, *, diagonal: x.tril(diagonal),
    "triu": lambda x, *, diagonal: x.triu(diagonal),
    "diag": _diag,
    "diag_mask_inf": lambda x, *, n_past: _causal(x, n_past).where(x, -math.inf),
    "diag_mask_zero": lambda x, *, n_past: _causal(x, n_past).where(x, 0),
}
