"""What Warp's builtins and their adjoints compute where they are known to fail: see known.toml."""

from __future__ import annotations

from typing import Any

import numpy as np

from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._axes import kept


def clamp_to_acos(x: Any) -> Any:
    """Clamp the argument to -1 and 1."""
    return np.arccos(np.fmin(np.fmax(x, -1), 1))


def clamp_to_asin(x: Any) -> Any:
    """Clamp the argument to -1 and 1."""
    return np.arcsin(np.fmin(np.fmax(x, -1), 1))


def drop_nan_of_maximum(a: Any, b: Any) -> Any:
    """Take the other of two where one is NaN."""
    return np.fmax(a, b)


def drop_nan_of_minimum(a: Any, b: Any) -> Any:
    """Take the other of two where one is NaN."""
    return np.fmin(a, b)


def weigh_both_ends(a: Any, b: Any, weight: Any) -> Any:
    """Add a (1 - weight) and b weight, which may be far larger than the result."""
    return a * (1 - weight) + b * weight


def drop_nan_of_relu(x: Any) -> Any:
    """Take 0 where x is NaN."""
    return np.fmax(x, 0)


def clamp_nan(x: Any, **bounds: float) -> Any:
    """Take the lower bound where x is NaN; bounds come in their order."""
    low, high = bounds.values()
    return np.fmin(np.fmax(low, x), high)


def drop_nan_of_amax(x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Begin with -inf and keep what is larger, which NaN never is."""
    return np.max(np.where(np.isnan(x), -np.inf, x), axis=dim, keepdims=keepdim, initial=-np.inf)


def drop_nan_of_amin(x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Begin with inf and keep what is less, which NaN never is."""
    return np.min(np.where(np.isnan(x), np.inf, x), axis=dim, keepdims=keepdim, initial=np.inf)


def give_ties_the_whole(g: Any, y: Any, x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Give every element that equals the result the whole gradient."""
    return np.where(x == kept(y, x, dim), kept(g, x, dim), 0)


def forget_divisor(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Give the divisor of a remainder no gradient."""
    return unbroadcast(g, a.shape), np.zeros(b.shape, like=g)


def sign_of_zero_and_nan_is_one(x: Any) -> Any:
    """Ask only whether x is below 0."""
    return np.where(x < 0, -1.0, 1.0)


def divide_by_square_of_cosine(g: Any, y: Any, x: Any) -> Any:
    """Multiply by 1 / cos(x)^2."""
    cosine = np.cos(x)
    return np.where(cosine == 0, 0, 1 / (cosine * cosine) * g)


def multiply_by_stored_power(g: Any, y: Any, a: Any, b: Any, *, exponent: float | None = None) -> tuple[Any, Any]:
    """Multiply by powers before the cotangent is there."""
    power = np.power(a, b - 1)
    return unbroadcast(b * power * g, a.shape), unbroadcast(np.log(a) * np.power(a, b) * g, b.shape)


def divide_by_sum_of_squares(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Divide by a^2 + b^2, computed as it is written."""
    square = b * b + a * a
    return unbroadcast(b / square * g, a.shape), unbroadcast(-(a / square) * g, b.shape)
