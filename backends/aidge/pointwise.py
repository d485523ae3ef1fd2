"""aidge's operators by ours: what is done element by element. Each builds the node and says what it is fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aidge_core as aidge
import numpy as np

from opproof.backends.aidge.run import NodeCall, call
from opproof.backends.protocol import Unsupported
from opproof.core.arrays import Array


def _plain(node: Callable[..., Any], *args: Any, **attributes: Any) -> Callable[..., NodeCall]:
    """An operator that takes our tensors as they are."""
    return lambda *inputs: call(node(*args, **attributes), *inputs)


def _number(value: float, x: Array) -> Array:
    return np.full((), value, dtype=x.dtype)


def _clip(x: Array, low: float | None, high: float | None) -> NodeCall:
    """The bounds are fed, since as attributes they are float32, and without them infinities are cut off."""
    bounds = (-np.inf if low is None else low, np.inf if high is None else high)
    return call(aidge.Clip(), x, constants=[_number(bound, x) for bound in bounds])


def _pow(a: Array, b: Array | None = None, *, exponent: float | None) -> NodeCall:
    if exponent is None:
        return call(aidge.Pow(), a, b)
    return call(aidge.Pow(), a, constants=(_number(exponent, a),))


def _softplus(x: Array, *, beta: float, threshold: float) -> NodeCall:
    if beta != 1 or threshold != 20:
        raise Unsupported("aidge's Softplus has neither beta nor threshold")
    return call(aidge.Softplus(), x)


def _cast(x: Array, *, to: str) -> NodeCall:
    """There and back."""
    types = {"f16": aidge.dtype.float16, "f32": aidge.dtype.float32}
    if to not in types:
        raise Unsupported(f"aidge's CPU backend has no {to}")
    there, back = aidge.Cast(types[to]), aidge.Cast(aidge.numpy_to_aidge_dtype(x.dtype))
    there.add_child(back, 0, 0)
    return call(there, x, last=back)


def _where(condition: Array, a: Array, b: Array) -> NodeCall:
    return call(aidge.Where(), condition != 0, a, b)


def _masked_fill(x: Array, mask: Array, *, value: float) -> NodeCall:
    return NodeCall(aidge.Where(), (mask != 0, _number(value, x), x), (1, None, 0))


TABLE: dict[str, Callable[..., NodeCall]] = {
    "abs": _plain(aidge.Abs),
    "asin": _plain(aidge.Asin),
    "atan": _plain(aidge.Atan),
    "ceil": _plain(aidge.Ceil),
    "cos": _plain(aidge.Cos),
    "cosh": _plain(aidge.Cosh),
    "erf": _plain(aidge.Erf),
    "exp": _plain(aidge.Exp),
    "floor": _plain(aidge.Floor),
    "hardsigmoid": _plain(aidge.HardSigmoid, alpha=1 / 6, beta=0.5),
    "hardswish": _plain(aidge.HardSwish),
    "log": _plain(aidge.Ln),
    "neg": _plain(aidge.Neg),
    "relu": _plain(aidge.ReLU),
    "reciprocal": _plain(aidge.Reciprocal),
    "round": _plain(aidge.Round, rounding_mode="half_to_even"),
    "sigmoid": _plain(aidge.Sigmoid),
    "sin": _plain(aidge.Sin),
    "sinh": _plain(aidge.Sinh),
    "softplus": _softplus,
    "sqrt": _plain(aidge.Sqrt),
    "step": _plain(aidge.Heaviside, 0.0),
    "tan": _plain(aidge.Tan),
    "tanh": _plain(aidge.Tanh),
    "leaky_relu": lambda x, *, negative_slope: call(aidge.LeakyReLU(negative_slope), x),
    "clamp": lambda x, *, min, max: _clip(x, min, max),
    "hardtanh": lambda x, *, min_val, max_val: _clip(x, min_val, max_val),
    "relu6": lambda x: _clip(x, 0, 6),
    "cast": _cast,
    "add": _plain(aidge.Add),
    "add1": _plain(aidge.Add),
    "sub": _plain(aidge.Sub),
    "mul": _plain(aidge.Mul),
    "div": _plain(aidge.Div),
    "pow": _pow,
    "fmod": _plain(aidge.Mod, fmod=True),
    "maximum": _plain(aidge.Max, 2),
    "minimum": _plain(aidge.Min, 2),
    "eq": _plain(aidge.Equal),
    "ge": _plain(aidge.GreaterOrEqual),
    "gt": _plain(aidge.Greater),
    "le": _plain(aidge.LessOrEqual),
    "lt": _plain(aidge.Less),
    "logical_and": lambda a, b: call(aidge.And(), a != 0, b != 0),
    "logical_not": lambda x: call(aidge.Not(), x != 0),
    "where": _where,
    "masked_fill": _masked_fill,
}
