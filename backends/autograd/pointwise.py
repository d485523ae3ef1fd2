"""autograd's functions by operator: those of each element.

An entry takes the operator's tensors and parameters by our names and calls the function of autograd.numpy or
autograd.scipy.special; what they have no function for is not here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
from autograd.scipy import special

from opproof.backends.protocol import Unsupported


def _softplus(x: Any, *, beta: float, threshold: float) -> Any:
    # Past 20 logaddexp and the thresholded one agree to 2e-9, which float64 alone sees.
    if beta != 1 or threshold < 20 or (threshold != math.inf and x.dtype == anp.float64):
        raise Unsupported("NumPy's logaddexp(0, x) has neither beta nor threshold")
    return anp.logaddexp(0, x)


TABLE: dict[str, Callable[..., Any]] = {
    # One tensor
    "abs": anp.abs,
    "neg": anp.negative,
    "sign": anp.sign,
    "step": lambda x: anp.heaviside(x, 0),
    "square": anp.square,
    "sqrt": anp.sqrt,
    "reciprocal": anp.reciprocal,
    "log": anp.log,
    "log2": anp.log2,
    "log10": anp.log10,
    "log1p": anp.log1p,
    "exp": anp.exp,
    "exp2": anp.exp2,
    "expm1": anp.expm1,
    "sin": anp.sin,
    "cos": anp.cos,
    "tan": anp.tan,
    "tanh": anp.tanh,
    "sinh": anp.sinh,
    "cosh": anp.cosh,
    "asin": anp.arcsin,
    "acos": anp.arccos,
    "atan": anp.arctan,
    "erf": special.erf,
    "floor": anp.floor,
    "ceil": anp.ceil,
    "round": anp.round,
    "trunc": anp.trunc,
    "sigmoid": special.expit,
    "softplus": _softplus,
    "relu": lambda x: anp.maximum(x, 0),
    "relu6": lambda x: anp.clip(x, 0, 6),
    "hardtanh": lambda x, *, min_val, max_val: anp.clip(x, min_val, max_val),
    "clamp": lambda x, *, min, max: anp.clip(x, min, max),
    "threshold": lambda x, *, threshold, value: anp.where(x <= threshold, value, x),
    "scale": lambda x, *, s, b: s * x + b,
    # Two and three tensors
    "add": anp.add,
    "add1": lambda a, b: anp.add(a, anp.reshape(b, ())),
    "sub": anp.subtract,
    "mul": anp.multiply,
    "div": anp.divide,
    "pow": lambda a, b=None, *, exponent: anp.power(a, exponent if b is None else b),
    "fmod": anp.fmod,
    "remainder": anp.remainder,
    "floor_divide": anp.floor_divide,
    "atan2": anp.arctan2,
    "maximum": anp.maximum,
    "minimum": anp.minimum,
    "where": lambda condition, a, b: anp.where(condition != 0, a, b),
    "masked_fill": lambda x, mask, *, value: anp.where(mask != 0, value, x),
    "eq": anp.equal,
    "ne": anp.not_equal,
    "lt": anp.less,
    "le": anp.less_equal,
    "gt": anp.greater,
    "ge": anp.greater_equal,
    "logical_and": anp.logical_and,
    "logical_or": anp.logical_or,
    "logical_not": anp.logical_not,
}
