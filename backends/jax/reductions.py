"""JAX's functions by operator: reductions, scans, linear algebra. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from opproof.backends.protocol import Unsupported


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    """`dim` and `keepdim` under NumPy's names."""
    return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)


def _of_some(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction that JAX gives no value over no elements."""

    def along(x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
        dims = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
        if any(x.shape[d] == 0 for d in dims):
            raise Unsupported(f"JAX's {name} has no value of an empty axis")
        return function(x, axis=dim, keepdims=keepdim)

    return along


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    y = jnp.matmul(x, weight.T)
    return y if bias is None else y + bias


def _outer_product(a: Any, b: Any) -> Any:
    return jnp.outer(a, b) if a.ndim == 1 else jnp.einsum("...km,...kn->...mn", a, b)


def _mul_mat_id(a: Any, b: Any, ids: Any) -> Any:
    return jnp.einsum("tumk,tuk->tum", a[ids], jnp.broadcast_to(b, (*ids.shape, b.shape[-1])))


def _decline_16_bits(x: Any, name: str) -> None:
    if x.dtype in (jnp.float16, jnp.bfloat16):
        raise Unsupported(f"JAX's {name} has no 16-bit floats")


def _solve_triangular(a: Any, b: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
    _decline_16_bits(a, "triangular_solve")
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(m, (*batch, *m.shape[-2:])) for m in (a, b))
    return jax.lax.linalg.triangular_solve(a, b, left_side=left, lower=not upper, unit_diagonal=unitriangular)


def _cholesky(x: Any) -> Any:
    _decline_16_bits(x, "cholesky")
    return jnp.linalg.cholesky(x)


def _exponentiate_matrix(x: Any) -> Any:
    _decline_16_bits(x, "expm")
    return jax.scipy.linalg.expm(x)


def _slogdet(x: Any) -> Any:
    _decline_16_bits(x, "slogdet")
    return tuple(jnp.linalg.slogdet(x))


def _solve(a: Any, b: Any, *, left: bool) -> Any:
    _decline_16_bits(a, "solve")
    return jnp.linalg.solve(a, b) if left else jnp.linalg.solve(a.mT, b.mT).mT


def _causal(x: Any, n_past: int) -> Any:
    return jnp.tri(x.shape[-2], x.shape[-1], n_past, dtype=bool)


TABLE: dict[str, Callable[..., Any]] = {
    # Reductions and scans
    "sum": _along(jnp.sum),
    "mean": _along(jnp.mean),
    "prod": _along(jnp.prod),
    "amax": _of_some("max", jnp.max),
    "amin": _of_some("min", jnp.min),
    "all": _along(jnp.all),
    "any": _along(jnp.any),
    "argmax": _along(jnp.argmax),
    "argmin": _along(jnp.argmin),
    "var": lambda x, *, dim, correction, keepdim: jnp.var(x, axis=dim, ddof=correction, keepdims=keepdim),
    "std": lambda x, *, dim, correction, keepdim: jnp.std(x, axis=dim, ddof=correction, keepdims=keepdim),
    "norm": lambda x, *, p, dim, keepdim: jnp.linalg.vector_norm(x, ord=p, axis=dim, keepdims=keepdim),
    "logsumexp": _along(jax.nn.logsumexp),
    "cumsum": lambda x, *, dim: jnp.cumsum(x, axis=dim),
    "cumprod": lambda x, *, dim: jnp.cumprod(x, axis=dim),
    "count_equal": lambda a, b: jnp.count_nonzero(a == b),
    # Linear algebra
    "matmul": jnp.matmul,
    "bmm": jax.lax.batch_matmul,
    "dot": jnp.dot,
    "linear": _linear,
    "outer_product": _outer_product,
    "mul_mat_id": _mul_mat_id,
    "add_id": lambda a, b, ids: a + jnp.take(b, ids, axis=0),
    "tril": lambda x, *, diagonal: jnp.tril(x, diagonal),
    "triu": lambda x, *, diagonal: jnp.triu(x, diagonal),
    "trace": lambda x, *, offset: jnp.trace(x, offset, -2, -1),
    "tensordot": lambda a, b, *, axes: jnp.tensordot(a, b, axes),
    "diag": lambda x, *, diagonal: jnp.diag(x, diagonal),
    "diag_mask_inf": lambda x, *, n_past: jnp.where(_causal(x, n_past), x, -jnp.inf),
    "diag_mask_zero": lambda x, *, n_past: jnp.where(_causal(x, n_past), x, 0),
    "solve_triangular": _solve_triangular,
    "cholesky": _cholesky,
    "matrix_exp": _exponentiate_matrix,
    "slogdet": _slogdet,
    "solve": _solve,
}
