"""tinygrad's methods by operator: those of each element.

An entry takes the operator's tensors and parameters by our names and calls tinygrad's own method, nothing of ours
in its place; what tinygrad has no method for is not here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tinygrad import Tensor, dtypes

from opproof.backends.protocol import Unsupported


def _softplus(x: Any, *, beta: float, threshold: float) -> Any:
    # Past 20 tinygrad's and the thresholded one agree to 2e-9, which float64 alone sees.
    if threshold < 20 or (threshold != math.inf and x.dtype == dtypes.float64):
        raise Unsupported("tinygrad's softplus has no threshold")
    return x.softplus(beta)


TABLE: dict[str, Callable[..., Any]] = {
    # One tensor
    "abs": Tensor.abs,
    "neg": Tensor.neg,
    "sign": Tensor.sign,
    "square": Tensor.square,
    "sqrt": Tensor.sqrt,
    "rsqrt": Tensor.rsqrt,
    "reciprocal": Tensor.reciprocal,
    "log": Tensor.log,
    "log2": Tensor.log2,
    "exp": Tensor.exp,
    "exp2": Tensor.exp2,
    "sin": Tensor.sin,
    "cos": Tensor.cos,
    "tan": Tensor.tan,
    "tanh": Tensor.tanh,
    "sinh": Tensor.sinh,
    "cosh": Tensor.cosh,
    "asin": Tensor.asin,
    "acos": Tensor.acos,
    "atan": Tensor.atan,
    "erf": Tensor.erf,
    "floor": Tensor.floor,
    "ceil": Tensor.ceil,
    "round": Tensor.round,
    "trunc": Tensor.trunc,
    "sigmoid": Tensor.sigmoid,
    "logsigmoid": Tensor.logsigmoid,
    "relu": Tensor.relu,
    "relu6": Tensor.relu6,
    "leaky_relu": lambda x, *, negative_slope: x.leaky_relu(negative_slope),
    "elu": lambda x, *, alpha: x.elu(alpha),
    "celu": lambda x, *, alpha: x.celu(alpha),
    "selu": Tensor.selu,
    "gelu": lambda x, *, approximate: x.gelu(approximate),
    "gelu_quick": Tensor.quick_gelu,
    "silu": Tensor.silu,
    "mish": Tensor.mish,
    "hardswish": Tensor.hardswish,
    "hardsigmoid": Tensor.hardsigmoid,
    "hardtanh": lambda x, *, min_val, max_val: x.hardtanh(min_val, max_val),
    "softplus": _softplus,
    "softsign": Tensor.softsign,
    "clamp": lambda x, *, min, max: x.clip(min, max),
    "scale": lambda x, *, s, b: x * s + b,
    # Two and three tensors
    "add": Tensor.add,
    "add1": lambda a, b: a.add(b.reshape(())),
    "sub": Tensor.sub,
    "mul": Tensor.mul,
    "div": Tensor.div,
    "pow": lambda a, b=None, *, exponent: a.pow(exponent if b is None else b),
    "fmod": Tensor.fmod,
    "remainder": Tensor.mod,
    "floor_divide": lambda a, b: a.div(b, rounding_mode="floor"),
    "maximum": Tensor.maximum,
    "minimum": Tensor.minimum,
    "lerp": lambda a, b, weight: a.lerp(b, weight),
    "where": lambda condition, a, b: condition.ne(0).where(a, b),
    "masked_fill": lambda x, mask, *, value: x.masked_fill(mask.ne(0), value),
    "eq": Tensor.eq,
    "ne": Tensor.ne,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "logical_and": lambda a, b: a.bool().bitwise_and(b.bool()),
    "logical_or": lambda a, b: a.bool().bitwise_or(b.bool()),
    "logical_not": Tensor.logical_not,
}
