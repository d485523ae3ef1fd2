"""JAX's functions by operator: pointwise, reductions, linear algebra. See also _jax_moves, _jax_nn, _jax_windows.

An entry takes the operator's tensors and parameters by our names and calls JAX's own function, nothing
of ours in its place; what JAX has no function for is not here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from opproof.backends._protocol import Unsupported


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    """`dim` and `keepdim` under NumPy's names."""
    return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)


def _softplus(x: Any, *, beta: float, threshold: float) -> Any:
    # Past 20 JAX's and the thresholded one agree to 2e-9, which float64 alone sees.
    if beta != 1 or threshold < 20 or (threshold != math.inf and x.dtype == jnp.float64):
        raise Unsupported("JAX's softplus has neither beta nor threshold")
    return jax.nn.softplus(x)


def _hardtanh(x: Any, *, min_val: float, max_val: float) -> Any:
    if (min_val, max_val) != (-1, 1):
        raise Unsupported("JAX's hard_tanh has no bounds but -1 and 1")
    return jax.nn.hard_tanh(x)


def _prelu(x: Any, weight: Any) -> Any:
    return jax.nn.leaky_relu(x, weight.reshape((-1,) + (1,) * (x.ndim - 2)) if x.ndim > 1 else weight.reshape(()))


def _acc(a: Any, b: Any, *, stride: tuple[int, ...], offset: int) -> Any:
    places = offset + np.tensordot(np.array(stride, dtype=int), np.indices(b.shape), 1)
    return a.ravel().at[places].add(b, unique_indices=True).reshape(a.shape)


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    y = jnp.matmul(x, weight.T)
    return y if bias is None else y + bias


def _outer_product(a: Any, b: Any) -> Any:
    return jnp.outer(a, b) if a.ndim == 1 else jnp.einsum("...km,...kn->...mn", a, b)


def _mul_mat_id(a: Any, b: Any, ids: Any) -> Any:
    return jnp.einsum("tumk,tuk->tum", a[ids], jnp.broadcast_to(b, (*ids.shape, b.shape[-1])))


def _solve_triangular(a: Any, b: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
    if a.dtype in (jnp.float16, jnp.bfloat16):
        raise Unsupported("JAX's triangular_solve has no 16-bit floats")
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(m, (*batch, *m.shape[-2:])) for m in (a, b))
    return jax.lax.linalg.triangular_solve(a, b, left_side=left, lower=not upper, unit_diagonal=unitriangular)


def _causal(x: Any, n_past: int) -> Any:
    return jnp.tri(*x.shape[-2:], n_past, dtype=bool)


def _scale(x: Any, *, s: float, b: float) -> Any:
    return s * x + b


TABLE: dict[str, Callable[..., Any]] = {
    # Pointwise
    "abs": jnp.abs,
    "neg": jnp.negative,
    "sign": jnp.sign,
    "step": lambda x: jnp.heaviside(x, 0),
    "square": jnp.square,
    "sqrt": jnp.sqrt,
    "rsqrt": jax.lax.rsqrt,
    "reciprocal": jnp.reciprocal,
    "log": jnp.log,
    "log2": jnp.log2,
    "log1p": jnp.log1p,
    "exp": jnp.exp,
    "exp2": jnp.exp2,
    "expm1": jnp.expm1,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "tanh": jnp.tanh,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "asin": jnp.asin,
    "acos": jnp.acos,
    "atan": jnp.atan,
    "erf": jax.scipy.special.erf,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "round": jnp.round,
    "trunc": jnp.trunc,
    "sigmoid": jax.nn.sigmoid,
    "logsigmoid": jax.nn.log_sigmoid,
    "relu": jax.nn.relu,
    "relu6": jax.nn.relu6,
    "leaky_relu": lambda x, *, negative_slope: jax.nn.leaky_relu(x, negative_slope),
    "prelu": _prelu,
    "elu": lambda x, *, alpha: jax.nn.elu(x, alpha),
    "celu": lambda x, *, alpha: jax.nn.celu(x, alpha),
    "selu": jax.nn.selu,
    "gelu": lambda x, *, approximate: jax.nn.gelu(x, approximate=approximate == "tanh"),
    "silu": jax.nn.silu,
    "mish": jax.nn.mish,
    "hardswish": jax.nn.hard_swish,
    "hardsigmoid": jax.nn.hard_sigmoid,
    "hardtanh": _hardtanh,
    "softplus": _softplus,
    "softsign": jax.nn.soft_sign,
    "clamp": lambda x, *, min, max: jnp.clip(x, min, max),
    "scale": _scale,
    # Two and three tensors
    "add": jnp.add,
    "add1": lambda a, b: jnp.add(a, b.reshape(())),
    "sub": jnp.subtract,
    "mul": jnp.multiply,
    "div": jnp.divide,
    "pow": lambda a, b=None, *, exponent: jnp.power(a, exponent if b is None else b),
    "fmod": jnp.fmod,
    "remainder": jnp.remainder,
    "floor_divide": jnp.floor_divide,
    "atan2": jnp.atan2,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "where": lambda condition, a, b: jnp.where(condition != 0, a, b),
    "masked_fill": lambda x, mask, *, value: jnp.where(mask != 0, value, x),
    "eq": jnp.equal,
    "ne": jnp.not_equal,
    "lt": jnp.less,
    "le": jnp.less_equal,
    "gt": jnp.greater,
    "ge": jnp.greater_equal,
    "logical_and": jnp.logical_and,
    "logical_or": jnp.logical_or,
    "logical_not": jnp.logical_not,
    "acc": _acc,
    # Reductions and scans
    "sum": _along(jnp.sum),
    "mean": _along(jnp.mean),
    "prod": _along(jnp.prod),
    "amax": _along(jnp.max),
    "amin": _along(jnp.min),
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
    "diag": lambda x, *, diagonal: jnp.diag(x, diagonal),
    "diag_mask_inf": lambda x, *, n_past: jnp.where(_causal(x, n_past), x, -jnp.inf),
    "diag_mask_zero": lambda x, *, n_past: jnp.where(_causal(x, n_past), x, 0),
    "solve_triangular": _solve_triangular,
}
