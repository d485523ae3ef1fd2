"""MLX's functions by operator: those of each element.

An entry takes the operator's tensors and parameters by our names and calls MLX's own function, nothing
of ours in its place; what MLX has no function for is not here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx import nn

from opproof.backends.protocol import Unsupported


def _softplus(x: Any, *, beta: float, threshold: float) -> Any:
    # Past 20 MLX's and the thresholded one agree to 2e-9, which float64 alone sees.
    if beta != 1 or threshold < 20 or (threshold != math.inf and x.dtype == mx.float64):
        raise Unsupported("MLX's softplus has neither beta nor threshold")
    return nn.softplus(x)


def _prelu(x: Any, weight: Any) -> Any:
    return nn.prelu(x, weight.reshape((-1,) + (1,) * (x.ndim - 2)) if x.ndim > 1 else weight.reshape(()))


def _leaky_relu(x: Any, *, negative_slope: float) -> Any:
    if negative_slope > 1:
        raise Unsupported("MLX's leaky_relu is the larger of x and slope x, as documented: slopes up to 1")
    return nn.leaky_relu(x, negative_slope)


def _selu(x: Any) -> Any:
    if x.dtype in (mx.float32, mx.float64):
        raise Unsupported("MLX's selu has its two constants to six digits, as documented: enough for 16 bits")
    return nn.selu(x)


def _clamp(x: Any, **limits: float | None) -> Any:
    if limits == {"min": None, "max": None}:
        raise Unsupported("MLX clips by one limit at least")
    return mx.clip(x, limits["min"], limits["max"])


TABLE: dict[str, Callable[..., Any]] = {
    # One tensor
    "abs": mx.abs,
    "neg": mx.negative,
    "sign": mx.sign,
    "square": mx.square,
    "sqrt": mx.sqrt,
    "rsqrt": mx.rsqrt,
    "reciprocal": mx.reciprocal,
    "log": mx.log,
    "log2": mx.log2,
    "log1p": mx.log1p,
    "exp": mx.exp,
    "expm1": mx.expm1,
    "sin": mx.sin,
    "cos": mx.cos,
    "tan": mx.tan,
    "tanh": mx.tanh,
    "sinh": mx.sinh,
    "cosh": mx.cosh,
    "asin": mx.arcsin,
    "acos": mx.arccos,
    "atan": mx.arctan,
    "asinh": mx.arcsinh,
    "acosh": mx.arccosh,
    "atanh": mx.arctanh,
    "erf": mx.erf,
    "erfinv": mx.erfinv,
    "floor": mx.floor,
    "ceil": mx.ceil,
    "round": mx.round,
    "trunc": mx.trunc,
    "sigmoid": mx.sigmoid,
    "logsigmoid": nn.log_sigmoid,
    "relu": nn.relu,
    "relu6": nn.relu6,
    "relu2": nn.relu2,
    "leaky_relu": _leaky_relu,
    "prelu": _prelu,
    "elu": lambda x, *, alpha: nn.elu(x, alpha),
    "celu": lambda x, *, alpha: nn.celu(x, alpha),
    "selu": _selu,
    "gelu": lambda x, *, approximate: nn.gelu_approx(x) if approximate == "tanh" else nn.gelu(x),
    "gelu_quick": nn.gelu_fast_approx,
    "silu": nn.silu,
    "mish": nn.mish,
    "hardswish": nn.hardswish,
    "hardtanh": lambda x, *, min_val, max_val: nn.hard_tanh(x, min_val, max_val),
    "hardshrink": lambda x, *, lambd: nn.hard_shrink(x, lambd),
    "softshrink": lambda x, *, lambd: nn.softshrink(x, lambd),
    "softplus": _softplus,
    "softsign": nn.softsign,
    "clamp": _clamp,
    "scale": lambda x, *, s, b: s * x + b,
    "isnan": mx.isnan,
    "isinf": mx.isinf,
    "isfinite": mx.isfinite,
    "bitwise_not": mx.bitwise_invert,
    # Two and three tensors
    "add": mx.add,
    "add1": lambda a, b: mx.add(a, b.reshape(())),
    "sub": mx.subtract,
    "mul": mx.multiply,
    "div": mx.divide,
    "pow": lambda a, b=None, *, exponent: mx.power(a, exponent if b is None else b),
    "remainder": mx.remainder,
    "floor_divide": mx.floor_divide,
    "atan2": mx.arctan2,
    "logaddexp": mx.logaddexp,
    "maximum": mx.maximum,
    "minimum": mx.minimum,
    "where": lambda condition, a, b: mx.where(condition != 0, a, b),
    "masked_fill": lambda x, mask, *, value: mx.where(mask != 0, mx.array(value, x.dtype), x),
    "eq": mx.equal,
    "ne": mx.not_equal,
    "lt": mx.less,
    "le": mx.less_equal,
    "gt": mx.greater,
    "ge": mx.greater_equal,
    "logical_and": mx.logical_and,
    "logical_or": mx.logical_or,
    "logical_not": mx.logical_not,
    "bitwise_and": mx.bitwise_and,
    "bitwise_or": mx.bitwise_or,
    "bitwise_xor": mx.bitwise_xor,
    "bitwise_left_shift": mx.left_shift,
    "bitwise_right_shift": mx.right_shift,
}
