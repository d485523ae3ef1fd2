"""Warp's builtin functions by operator, and how their operands and results lie.

An entry of POINTWISE is one call of a Warp builtin; where the operator and the builtin differ (a bound of 0, a sign,
a mask of integers), or the builtin is an operator of the language, a wp.func of one line stands between. READS and ADDS
need no function: what is validated there is Warp's reading of an array, its atomics, and their adjoints.
"""

# Warp reads the source of these functions and their annotations; Any makes them generic.
from dataclasses import dataclass
from typing import Any

import warp as wp


@dataclass(frozen=True)
class Entry:
    """One builtin: how many tensors it takes, which parameters behind them, and whether its result is a bool."""

    function: Any  # a wp.Function
    tensors: int = 1
    params: tuple[str, ...] = ()
    test: bool = False


def heaviside(x: Any) -> Any:
    return wp.step(-x)  # wp.step is 1 below 0


def rectified(x: Any) -> Any:
    return wp.max(x, x.dtype(0.0))


def chosen(condition: Any, a: Any, b: Any) -> Any:
    return wp.where(condition != condition.dtype(0), a, b)


def filled(x: Any, mask: Any, value: Any) -> Any:
    return wp.where(mask != mask.dtype(0), value, x)


def is_zero(x: Any) -> Any:
    return x == x.dtype(0)


def equal(a: Any, b: Any) -> Any:
    return a == b


def not_equal(a: Any, b: Any) -> Any:
    return a != b


def less(a: Any, b: Any) -> Any:
    return a < b


def less_equal(a: Any, b: Any) -> Any:
    return a <= b


def greater(a: Any, b: Any) -> Any:
    return a > b


def greater_equal(a: Any, b: Any) -> Any:
    return a >= b


POINTWISE: dict[str, Entry] = {
    "abs": Entry(wp.abs),
    "neg": Entry(wp.neg),
    "sign": Entry(wp.sign),
    "step": Entry(wp.func(heaviside)),
    "sqrt": Entry(wp.sqrt),
    "log": Entry(wp.log),
    "log2": Entry(wp.log2),
    "exp": Entry(wp.exp),
    "sin": Entry(wp.sin),
    "cos": Entry(wp.cos),
    "tan": Entry(wp.tan),
    "sinh": Entry(wp.sinh),
    "cosh": Entry(wp.cosh),
    "tanh": Entry(wp.tanh),
    "asin": Entry(wp.asin),
    "acos": Entry(wp.acos),
    "atan": Entry(wp.atan),
    "erf": Entry(wp.erf),
    "floor": Entry(wp.floor),
    "ceil": Entry(wp.ceil),
    "round": Entry(wp.rint),
    "trunc": Entry(wp.trunc),
    "relu": Entry(wp.func(rectified)),
    "hardtanh": Entry(wp.clamp, 1, ("min_val", "max_val")),
    "clamp": Entry(wp.clamp, 1, ("min", "max")),
    "add": Entry(wp.add, 2),
    "sub": Entry(wp.sub, 2),
    "mul": Entry(wp.mul, 2),
    "div": Entry(wp.div, 2),
    "pow": Entry(wp.pow, 2),
    "atan2": Entry(wp.atan2, 2),
    "fmod": Entry(wp.mod, 2),
    "floor_divide": Entry(wp.floordiv, 2),
    "maximum": Entry(wp.max, 2),
    "minimum": Entry(wp.min, 2),
    "lerp": Entry(wp.lerp, 3),
    "where": Entry(wp.func(chosen), 3),
    "masked_fill": Entry(wp.func(filled), 2, ("value",)),
    "logical_not": Entry(wp.func(is_zero), 1, (), test=True),
    "eq": Entry(wp.func(equal), 2, (), test=True),
    "ne": Entry(wp.func(not_equal), 2, (), test=True),
    "lt": Entry(wp.func(less), 2, (), test=True),
    "le": Entry(wp.func(less_equal), 2, (), test=True),
    "gt": Entry(wp.func(greater), 2, (), test=True),
    "ge": Entry(wp.func(greater_equal), 2, (), test=True),
}

#: Copies of elements: y[i] = x[at[i]].
READS = ("expand", "repeat", "repeat_interleave", "permute", "flip", "embedding", "index_select", "gather")

#: Atomics: wp.atomic_add(y, at[i], x[i]), and likewise max and min.
ADDS = {
    "sum": "atomic_add",
    "amax": "atomic_max",
    "amin": "atomic_min",
    "index_add": "atomic_add",
    "scatter_add": "atomic_add",
}
