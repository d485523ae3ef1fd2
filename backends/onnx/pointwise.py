"""ONNX's operators by ours: those of each element. See model.py.

Two or three nodes stand for one of ours only where ONNX has none and this is how it is written there: tests of
inequality (Not of Equal), 1 / √x (Reciprocal of Sqrt), and masks, which ONNX takes as booleans (Cast).
"""

from __future__ import annotations

import math
from typing import Any

from opproof.backends.onnx.model import ELEMENTS, Entry, Model, ModelInput
from opproof.backends.protocol import Unsupported
from opproof.core.dtypes import FLOATS


def _same(kind: str, **attributes: Any) -> Entry:
    """ONNX's operator of the same tensors; `attributes` are the same in every call."""
    return lambda m, *xs: m.node(kind, *xs, **attributes)


def _renamed(kind: str, **names: str) -> Entry:
    """ONNX's operator with our parameters under its names."""
    return lambda m, x, **params: m.node(kind, x, **{theirs: float(params[ours]) for ours, theirs in names.items()})


def boolean(m: Model, x: ModelInput) -> str:
    """Whether each element is nonzero."""
    return m.node("Cast", x, to=ELEMENTS["bool"])


def _of_booleans(kind: str) -> Entry:
    return lambda m, *xs: m.node(kind, *(boolean(m, x) for x in xs))


def _clip(m: Model, x: ModelInput, low: float | None, high: float | None) -> str:
    """Clip between bounds; a float that has none is given an infinity, as ONNX's default is the largest number."""
    ends: tuple[float | None, float | None] = (low, high)
    if x.dtype in FLOATS:
        ends = (-math.inf if low is None else low, math.inf if high is None else high)
    return m.node("Clip", x, *(None if v is None else m.constant(v, x.dtype) for v in ends))


def _softplus(m: Model, x: ModelInput, *, beta: float, threshold: float) -> str:
    # Past 20 ONNX's and the thresholded one agree to 2e-9, which float64 alone sees.
    if beta != 1 or threshold < 20 or (threshold != math.inf and x.dtype == "f64"):
        raise Unsupported("ONNX's Softplus has neither beta nor threshold")
    return m.node("Softplus", x)


def _threshold(m: Model, x: ModelInput, *, threshold: float, value: float) -> str:
    if value != 0:
        raise Unsupported("ONNX's ThresholdedRelu puts 0 below the threshold")
    return m.node("ThresholdedRelu", x, alpha=threshold)


def _prelu(m: Model, x: ModelInput, weight: ModelInput) -> str:
    """ONNX's slope broadcasts from the last axis: a weight per channel gets axes behind it."""
    if x.rank <= 2:
        return m.node("PRelu", x, weight if x.rank else m.node("Reshape", weight, m.constant((), "i64")))
    return m.node("PRelu", x, m.node("Reshape", weight, m.constant((-1,) + (1,) * (x.rank - 2))))


def _pow(m: Model, a: ModelInput, b: ModelInput | None = None, *, exponent: float | None) -> str:
    return m.node("Pow", a, m.constant(exponent, a.dtype) if b is None else b)


def _masked_fill(m: Model, x: ModelInput, mask: ModelInput, *, value: float) -> str:
    return m.node("Where", boolean(m, mask), m.constant(value, x.dtype), x)


TABLE: dict[str, Entry] = {
    # One tensor
    "abs": _same("Abs"),
    "neg": _same("Neg"),
    "sign": _same("Sign"),
    "square": lambda m, x: m.node("Mul", x, x),
    "sqrt": _same("Sqrt"),
    "rsqrt": lambda m, x: m.node("Reciprocal", m.node("Sqrt", x)),
    "reciprocal": _same("Reciprocal"),
    "log": _same("Log"),
    "exp": _same("Exp"),
    "exp2": lambda m, x: m.node("Pow", m.constant(2, x.dtype), x),
    "sin": _same("Sin"),
    "cos": _same("Cos"),
    "tan": _same("Tan"),
    "tanh": _same("Tanh"),
    "sinh": _same("Sinh"),
    "cosh": _same("Cosh"),
    "asin": _same("Asin"),
    "acos": _same("Acos"),
    "atan": _same("Atan"),
    "asinh": _same("Asinh"),
    "acosh": _same("Acosh"),
    "atanh": _same("Atanh"),
    "erf": _same("Erf"),
    "isnan": _same("IsNaN"),
    "isinf": _same("IsInf"),
    "bitwise_not": _same("BitwiseNot"),
    "floor": _same("Floor"),
    "ceil": _same("Ceil"),
    "round": _same("Round"),
    "sigmoid": _same("Sigmoid"),
    "relu": _same("Relu"),
    "relu6": lambda m, x: _clip(m, x, 0, 6),
    "leaky_relu": _renamed("LeakyRelu", negative_slope="alpha"),
    "prelu": _prelu,
    "elu": _renamed("Elu", alpha="alpha"),
    "celu": _renamed("Celu", alpha="alpha"),
    "selu": _same("Selu"),
    "gelu": lambda m, x, *, approximate: m.node("Gelu", x, approximate=approximate),
    "gelu_quick": _same("Swish", alpha=1.702),
    "silu": _same("Swish"),
    "mish": _same("Mish"),
    "hardsigmoid": _same("HardSigmoid", alpha=1 / 6, beta=0.5),
    "hardswish": _same("HardSwish"),
    "hardtanh": lambda m, x, *, min_val, max_val: _clip(m, x, min_val, max_val),
    "hardshrink": _renamed("Shrink", lambd="lambd"),
    "softshrink": lambda m, x, *, lambd: m.node("Shrink", x, lambd=float(lambd), bias=float(lambd)),
    "softplus": _softplus,
    "softsign": _same("Softsign"),
    "threshold": _threshold,
    "clamp": lambda m, x, *, min, max: _clip(m, x, min, max),
    # Two and three tensors
    "add": _same("Add"),
    "add1": _same("Add"),
    "sub": _same("Sub"),
    "mul": _same("Mul"),
    "div": _same("Div"),
    "pow": _pow,
    "fmod": _same("Mod", fmod=1),
    "maximum": _same("Max"),
    "minimum": _same("Min"),
    "where": lambda m, condition, a, b: m.node("Where", boolean(m, condition), a, b),
    "masked_fill": _masked_fill,
    "eq": _same("Equal"),
    "ne": lambda m, a, b: m.node("Not", m.node("Equal", a, b)),
    "lt": _same("Less"),
    "le": _same("LessOrEqual"),
    "gt": _same("Greater"),
    "ge": _same("GreaterOrEqual"),
    "logical_and": _of_booleans("And"),
    "logical_or": _of_booleans("Or"),
    "logical_not": _of_booleans("Not"),
    "bitwise_and": _same("BitwiseAnd"),
    "bitwise_or": _same("BitwiseOr"),
    "bitwise_xor": _same("BitwiseXor"),
}
