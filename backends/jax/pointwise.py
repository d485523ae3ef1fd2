"""JAX's functions by operator: those of each element.

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

from opproof.backends.protocol import Unsupported


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


TABLE: dict[str, Callable[..., Any]] = {
    # One tensor
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
    "scale": lambda x, *, s, b: s * x + b,
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
}
