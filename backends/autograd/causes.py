"""What HIPS autograd's gradients compute where they are known to fail: see known.toml."""

from __future__ import annotations

from typing import Any

import numpy as np

from opproof.reference_ops import norm, solve_triangular
from opproof.reference_ops._axes import Dim, count, kept


def _sum_to(v: Any, shape: tuple[int, ...]) -> Any:
    """Sum over the axes along which a tensor of `shape` was broadcast, one after the other."""
    while v.ndim > len(shape):
        v = np.sum(v, axis=0)
    for axis, n in enumerate(shape):
        if n == 1:
            v = np.sum(v, axis=axis, keepdims=True)
    return v


def multiply_by_x_over_size(g: Any, y: Any, x: Any) -> Any:
    """Form g x before it is divided by |x|."""
    return g * x / np.where(y == 0, 1, y)


def divide_product_by_element(g: Any, y: Any, x: Any, *, dim: Dim, keepdim: bool) -> Any:
    """Divide g times the product, stored in the dtype, by each element."""
    return kept(g * y, x, dim) / x


def slice_shape_at_negative_axis(g: Any, y: Any, x: Any, *, repeats: int, dim: int) -> Any:
    """Cut the shape at axis + 1, which of axis -1 is its beginning."""
    if x.shape[dim] == 1:
        return np.sum(g, axis=dim, keepdims=True)
    shape = (*x.shape[: dim + 1], repeats, *x.shape[dim + 1 :])
    return np.sum(np.reshape(g, shape), axis=dim + 1)


def divide_by_power_of_length(g: Any, y: Any, x: Any, *, p: float, dim: Dim, keepdim: bool) -> Any:
    """Form g / |y|^(p - 1) x |x|^(p - 2) as it is written: squares overflow, a length of 0 and p of infinity too."""
    length, along = norm.forward(x, p=p, dim=dim, keepdim=True), kept(g, x, dim)
    if p == 2:
        return along / length * x
    return along / length ** (p - 1) * x * np.abs(x) ** (p - 2)


def divide_by_deviation(g: Any, y: Any, x: Any, *, dim: Dim, correction: int, keepdim: bool) -> Any:
    """Divide by the deviation, whose squares overflow, even where it is 0; of one number give 0."""
    n = count(x, dim)
    if n <= 1:
        return np.broadcast_to(kept(g, x, dim) * 0, x.shape)
    centred = x - np.sum(x / n, axis=dim, keepdims=True)  # NumPy divides before it stores the sum
    deviation = np.sqrt(np.sum(centred * centred, axis=dim, keepdims=True) / (n - correction))
    return kept(g, x, dim) / deviation * centred / (n - correction)


def divide_by_square(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Divide by b^2, which overflows."""
    return _sum_to(g / b, a.shape), _sum_to(-g * a / (b * b), b.shape)


def divide_by_square_of_x(g: Any, y: Any, x: Any) -> Any:
    """Divide by x^2, which overflows, or loses its digits."""
    return -g / (x * x)


def divide_by_sum_of_squares(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Divide by a^2 + b^2, which overflows."""
    squares = a * a + b * b
    return _sum_to(g * b / squares, a.shape), _sum_to(g * -a / squares, b.shape)


def multiply_by_power(g: Any, y: Any, a: Any, b: Any = None, *, exponent: float | None) -> Any:
    """Form g b before a^(b-1) multiplies it, which overflows."""
    power: Any = exponent if b is None else b
    da = _sum_to(g * power * a ** np.where(power != 0, power - 1, 1), a.shape)
    if b is None:
        return (da,)
    return da, _sum_to(g * np.log(np.where(a == 0, 1, a)) * y, b.shape)


def subtract_softplus(g: Any, y: Any, x: Any, **params: Any) -> Any:
    """Form exp(x - y), where infinity is subtracted from itself."""
    return g * np.exp(x - y)


def forget_unit_diagonal(g: Any, y: Any, a: Any, b: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
    """Solve, and mask, as if the diagonal of a were read."""
    return solve_triangular.vjp(g, y, a, b, upper=upper, left=left, unitriangular=False)


def repeat_square_diagonal(g: Any, y: Any, x: Any, **params: Any) -> Any:
    """Make the square matrix of the cotangents, and repeat it where it has one element and the matrix has more."""
    return np.broadcast_to(np.diag(g), x.shape)


def is_not_square(question: Any) -> bool:
    """Whether the tensor is no square matrix."""
    x = question.inputs[0]
    return bool(x.ndim == 2 and x.shape[0] != x.shape[1])


def has_negative_axis(question: Any) -> bool:
    """Whether an axis is counted from the end."""
    return bool(min(question.params["dims"]) < 0)


def counts_axis_from_the_end(question: Any) -> bool:
    """Whether the axis is given as a negative number."""
    return bool(question.params["dim"] < 0)


def has_broadcast_value(question: Any) -> bool:
    """Whether one of both values is smaller than the result."""
    return any(v.shape != question.outputs[0].shape for v in question.inputs[1:])


def keeps_axis(question: Any) -> bool:
    """Whether the axis that is reduced stays."""
    return bool(question.params["keepdim"])
