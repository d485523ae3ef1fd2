"""Functions composed of few steps, with the gradients that come of differentiating each step, as autograd does.

A changed reference of a library that composes an operator of simpler ones is written once, for values: its gradient
is what the rules of the steps give, with their overflows, their cancellation and their 0 times infinity. The rules are
those of tinygrad (mixin/gradient.py there): every library that differentiates step by step has nearly the same.

The steps take arrays in any arithmetic (plain, noisy, rounded) and give arrays; of a `Traced` they give a `Traced`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from opproof.backends.causes import extract_numbers, store_as
from opproof.harness.reference.rounded_arithmetic import FORMATS, RoundedArray, unwrap, wrap
from opproof.reference_ops._arrays import unbroadcast

Function = Callable[..., Any]


class Traced:
    """A value, and of each value that it is made of the gradient: a function of its own gradient."""

    __array_ufunc__ = None  # NumPy's arrays leave operators to this class

    def __init__(self, value: Any, *sources: tuple[Any, Function]) -> None:
        self.value, self.sources = value, [(s, f) for s, f in sources if isinstance(s, Traced)]
        self.shape, self.ndim = np.shape(value), np.ndim(value)

    def __add__(self, other: Any) -> Traced:
        return Traced(self.value + value_of(other), (self, lambda g: g), (other, lambda g: g))

    def __mul__(self, other: Any) -> Traced:
        a, b = self.value, value_of(other)
        return Traced(a * b, (self, lambda g: b * g), (other, lambda g: a * g))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Traced:
        return Traced(-self.value, (self, lambda g: -g))

    def __sub__(self, other: Any) -> Traced:
        return Traced(self.value - value_of(other), (self, lambda g: g), (other, lambda g: -g))

    def __rsub__(self, other: Any) -> Traced:
        return Traced(other - self.value, (self, lambda g: -g))

    def __truediv__(self, other: Any) -> Traced:
        return _divide(self, other)

    def __rtruediv__(self, other: Any) -> Traced:
        return _divide(other, self)


def _divide(x: Any, y: Any) -> Traced:
    a, b = value_of(x), value_of(y)
    return Traced(a / b, (x, lambda g: g / b), (y, lambda g: -(a * g) / b / b))


def value_of(x: Any) -> Any:
    """The array of a traced value; any other as it is."""
    return x.value if isinstance(x, Traced) else x


def derivative_of(function: Function) -> Function:
    """The vjp of a function made of steps: of g, y and what the function takes."""

    def vjp(g: Any, _y: Any, *tensors: Any, **params: Any) -> Any:
        nodes = [v if v is None else Traced(v) for v in tensors]
        made = function(*nodes, **params)
        made = made if isinstance(made, Traced) else Traced(made)  # of none of them
        found = iter(differentiate(made, g, [v for v in nodes if v is not None]))
        of_each = tuple(v if v is None else next(found) for v in nodes)
        return of_each if len(of_each) > 1 else of_each[0]

    return vjp


def differentiate(y: Traced, g: Any, of: Iterable[Traced]) -> list[Any]:
    """Gradients of `y` with respect to values that it is made of, given its own."""
    of = list(of)
    leads = {id(x): True for x in of}
    order: list[Traced] = []
    _visit(y, order, leads)
    found = {id(y): g}
    for node in reversed(order):
        for source, step in node.sources:
            if leads[id(source)] and id(node) in found:
                part = _sum_to_shape(step(found[id(node)]), source.shape)
                found[id(source)] = found[id(source)] + part if id(source) in found else part
    return [found.get(id(x), np.zeros(x.shape, like=g)) for x in of]


def _visit(node: Traced, order: list[Traced], leads: dict[int, bool]) -> None:
    """Append to `order` what `node` is made of, then itself; note in `leads` what is made of what is asked for."""
    if id(node) not in leads:
        for source, _ in node.sources:
            _visit(source, order, leads)
        leads[id(node)] = any(leads[id(source)] for source, _ in node.sources)
        order.append(node)


def _sum_to_shape(g: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of what was broadcast, added up."""
    return g if np.shape(g) == shape else unbroadcast(g, shape)


def apply_step(x: Any, function: Function, gradient: Function) -> Any:
    """`function` of the array; of a traced value a traced one, with `gradient(g, x, y)`."""
    if not isinstance(x, Traced):
        return function(x)
    y = function(x.value)
    return Traced(y, (x, lambda g: gradient(g, x.value, y)))


def compute_in_float32(function: Function, *values: Any) -> Any:
    """`function` computed in float32 where the arithmetic is narrower, its result rounded to it."""
    how = next((v.arithmetic for v in values if isinstance(v, RoundedArray)), None)
    if how is None or how.operations.digits >= FORMATS["f32"].digits:
        return function(*values)
    wide = replace(how, operations=FORMATS["f32"])
    result = function(*(wrap(unwrap(v), wide) if isinstance(v, RoundedArray) else v for v in values))
    return wrap(how.rounded(unwrap(result)), how)


def where(condition: Any, a: Any, b: Any) -> Any:
    """One or the other: either gets its gradient where it is taken, 0 elsewhere."""
    chosen = np.where(condition, value_of(a), value_of(b))
    if not isinstance(a, Traced) and not isinstance(b, Traced):
        return chosen
    return Traced(chosen, (a, lambda g: np.where(condition, g, 0)), (b, lambda g: np.where(condition, 0, g)))


def relu(x: Any) -> Any:
    """`x` where it is above 0, which NaN is not."""
    return where(value_of(x) > 0, x, 0.0)


def take_larger(x: Any, other: float) -> Any:
    """The larger of `x` and a number, stored as x is, which share the gradient where they are equal."""

    def choose(v: Any) -> Any:
        limit = round_constant(other, v)
        return np.where(v < limit, limit, v)

    def slope(g: Any, v: Any, _: Any) -> Any:
        limit = round_constant(other, v)
        return np.where(v > limit, g, np.where(v == limit, g * 0.5, 0))

    return apply_step(x, choose, slope)


def round_constant(number: float, like: Any) -> float:
    """A number as it is stored in the format in which `like` is computed."""
    return float(store_as(number, like.arithmetic.operations.name)) if isinstance(like, RoundedArray) else number


def sign(x: Any) -> Any:
    """The sign as a number without gradient: 1 of NaN."""
    plain = extract_numbers(value_of(x))
    return np.where(plain == 0, 0.0, np.where(plain < 0, -1.0, 1.0))


def magnitude(x: Any) -> Any:
    """`x` times its sign, whose gradient is 0 at 0."""
    return x * sign(x)


def reciprocal(x: Any) -> Any:
    """1 / x, whose gradient multiplies by it twice."""
    return apply_step(x, lambda v: 1 / v, lambda g, _, y: -g * y * y)


def root(x: Any) -> Any:
    """The square root, whose gradient divides by twice the result."""
    return apply_step(x, np.sqrt, lambda g, _, y: g / (y * 2))


def length_with_one(x: Any) -> Any:
    """The root of 1 + x^2, in float32 where the arithmetic is narrower."""

    def slope(g: Any, v: Any, y: Any) -> Any:
        return compute_in_float32(lambda h, w, z: w * (h / (z * 2)) + w * (h / (z * 2)), g, v, y)

    return apply_step(x, lambda v: compute_in_float32(lambda w: np.sqrt(1 + w * w), v), slope)


def mean_square(x: Any, axes: tuple[int, ...]) -> Any:
    """The mean of squares along axes, which are kept, in float32 where the arithmetic is narrower."""
    n = math.prod(x.shape[a] for a in axes)
    return apply_step(
        x,
        lambda v: compute_in_float32(lambda w: np.sum(w * w, axis=axes, keepdims=True) / n, v),
        lambda g, v, _: v * (compute_in_float32(lambda w: w / n, g) * 2),
    )


def exp(x: Any) -> Any:
    """2 to the x / ln 2, and its gradient: in float32 where the arithmetic is narrower."""

    def power(v: Any) -> Any:
        return np.exp2(v * (1 / math.log(2)))

    return apply_step(
        x, lambda v: compute_in_float32(power, v), lambda g, v, _: compute_in_float32(lambda w, h: power(w) * h, v, g)
    )


def half_exp(x: Any) -> Any:
    """Half of `exp`: exponentials, and their products with a gradient, are halved last."""

    def product(v: Any, g: Any) -> Any:
        return np.exp2(v * (1 / math.log(2))) * g / 2

    return apply_step(x, lambda v: exp(v) / 2, lambda g, v, _: compute_in_float32(product, v, g))


def log(x: Any) -> Any:
    """The logarithm of base 2 times ln 2; the gradient divides by x."""
    return apply_step(x, lambda v: np.log2(v) * math.log(2), lambda g, v, _: g * math.log(2) / (v * math.log(2)))


def sigmoid(x: Any) -> Any:
    """1 / (1 + 2^(-x / ln 2)); of the gradient e / (1 + e) is 1 - 1 / (1 + e)."""
    return apply_step(x, lambda v: 1 / (1 + np.exp2(v * (-1 / math.log(2)))), lambda g, _, y: g * y * (1 - y))


def sum_over_axes(x: Any, axes: tuple[int, ...], divisor: float = 1) -> Any:
    """The sum along axes, which are kept, over a number: in float32 where the arithmetic is narrower."""
    return apply_step(
        x,
        lambda v: compute_in_float32(lambda w: np.sum(w, axis=axes, keepdims=True) / divisor, v),
        lambda g, v, _: np.broadcast_to(compute_in_float32(lambda w: w / divisor, g), v.shape),
    )


def mean(x: Any, axes: tuple[int, ...]) -> Any:
    """The mean along axes, which are kept."""
    return sum_over_axes(x, axes, math.prod(x.shape[a] for a in axes))


def reshape_value(x: Any, shape: tuple[int, ...]) -> Any:
    """The same elements in another shape."""
    return apply_step(x, lambda v: np.reshape(v, shape), lambda g, v, _: np.reshape(g, v.shape))


def sin(x: Any) -> Any:
    """The sine, of whose argument 32 digits are used from 30 on; the gradient is the sine of pi / 2 - x."""
    return apply_step(x, _compute_sine, lambda g, v, _: _compute_sine(_complement_of(v)) * g)


def cos(x: Any) -> Any:
    """The sine of pi / 2 - x, in float32 where the arithmetic is narrower; so is its gradient."""

    def slope(v: Any, g: Any) -> Any:
        return -_compute_sine(_complement_of(_complement_of(v))) * g

    return apply_step(
        x,
        lambda v: compute_in_float32(lambda w: _compute_sine(_complement_of(w)), v),
        lambda g, v, _: compute_in_float32(slope, v, g),
    )


def _complement_of(x: Any) -> Any:
    return round_constant(math.pi / 2, x) - x


def _compute_sine(x: Any) -> Any:
    """The sine of x less multiples of pi: of float32's pi below 30, of 32 digits of x from there on."""
    plain = extract_numbers(x)
    mantissa, exponent = np.frexp(plain)
    kept = np.ldexp(np.trunc(np.ldexp(mantissa, 32)), exponent - 32)
    near = np.abs(plain) < 30
    if isinstance(x, RoundedArray) and x.arithmetic.operations.digits <= FORMATS["f32"].digits:
        turns = np.where(near, np.rint(plain / math.pi), 0)
        value = np.sin(np.where(near, plain - turns * float(np.float32(math.pi)), kept)) * np.where(turns % 2, -1, 1)
        return wrap(x.arithmetic.rounded(value), x.arithmetic)
    return np.sin(x + np.where(np.isfinite(plain) & ~near, kept - plain, 0))
