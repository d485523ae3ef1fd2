"""Functions of one number and of two, and reductions: calls of PyTorch as calls of ours.

`_table.py` says which entry is read by which of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from _oracle import Reading, unless
from _readers import T, as_tensor, as_tensors, dims_of, first, number_of, second, shape_of

# Functions of one number


def bitwise_not(x: T) -> Reading:
    unless(x.dtype == torch.bool, "truth values, which are no integers of ours")
    return Reading("bitwise_not", (x,))


def rad2deg(x: T) -> Reading:
    return Reading("scale", (x,), {"s": 180 / math.pi})


def deg2rad(x: T) -> Reading:
    return Reading("scale", (x,), {"s": math.pi / 180})


def polygamma(x: T, n: int) -> Reading:
    unless(n != 0, "the derivatives of digamma are no operator")
    return Reading("digamma", (x,))


def clamp(x: T, min: Any = None, max: Any = None) -> Reading:
    for bound in (min, max):
        unless(isinstance(bound, T) and bound.ndim, "bounds are numbers")
    return Reading("clamp", (x,), {"min": number_of(min), "max": number_of(max)})


def clamp_min(x: T, min: Any) -> Reading:
    return Reading("maximum", (x, min)) if isinstance(min, T) else clamp(x, min)


def clamp_max(x: T, max: Any) -> Reading:
    return Reading("minimum", (x, max)) if isinstance(max, T) else clamp(x, None, max)


def fill(x: T, value: Any, **given: Any) -> Reading:
    unless(given.get("dtype") not in (None, x.dtype), "another dtype")
    return Reading("fill", (x,), {"value": number_of(value)})


def zeros_like(x: T, **given: Any) -> Reading:
    return fill(x, 0.0, **given)


def ones_like(x: T, **given: Any) -> Reading:
    return fill(x, 1.0, **given)


def new_zeros(x: T, *size: Any, **given: Any) -> Reading:
    return new_full(x, shape_of(size), 0.0, **given)


def new_ones(x: T, *size: Any, **given: Any) -> Reading:
    return new_full(x, shape_of(size), 1.0, **given)


def new_full(x: T, size: Any, value: Any, **given: Any) -> Reading:
    return fill(x.new_empty(tuple(size)), value, **given)


def arange(*args: Any, **given: Any) -> Reading:
    unless(given.get("dtype") == torch.int64, "integers")
    numbers = [*args, *(given[n] for n in ("end", "step") if n in given)]
    start, end, step = [*((0,) if len(numbers) == 1 else ()), *numbers, *((1,) if len(numbers) < 3 else ())]
    return Reading(
        "arange", (), {"start": start, "end": end, "step": step}, lambda y: (y.to(torch.float32),)
    )  # ours is of float32


def to(x: T, *args: Any, **given: Any) -> Reading:
    unless(_copied_to(x, args, given) is None, "no float")
    dtype = _copied_to(x, args, given)
    name = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}.get(dtype)
    if name is None:
        unless(dtype != x.dtype, "no float")
        return copied(x)
    return cast(name)(x)


def _copied_to(x: T, args: Sequence[Any], given: Any) -> Any:
    found = [v for v in (*args, *given.values()) if isinstance(v, torch.dtype)]
    like = [v.dtype for v in (*args, *given.values()) if isinstance(v, T)]
    return next(iter([*found, *like]), x.dtype)


def cast(dtype: str) -> Callable[..., Reading]:
    """A copy in another dtype; ours comes back to its own."""
    return lambda x, *_, **__: Reading("cast", (x,), {"to": dtype}, lambda y: (y.to(x.dtype),))


def copied(x: T, **given: Any) -> Reading:
    return Reading("contiguous", (x,))


# Functions of two numbers


def add1(a: Any, b: Any, *, alpha: Any = 1) -> Reading:
    one = not isinstance(b, T) or (b.numel() == 1 and b.ndim <= a.ndim)
    unless(not one or not isinstance(a, T) or a.numel() == 1, "two tensors")
    return Reading("add1", (a, as_tensor(b, a) * alpha))


def scale(a: Any, b: Any) -> Reading:
    unless(not isinstance(a, T) or isinstance(b, T), "two tensors")
    return Reading("scale", (a,), {"s": b})


def count_equal(a: Any, b: Any) -> Reading:
    unless(not isinstance(b, T) or a.shape != b.shape, "two tensors of a shape")
    return Reading("count_equal", (a, b), {}, lambda y: (y.sum(),))


def floor_divide(a: Any, b: Any, *, rounding_mode: str) -> Reading:
    del rounding_mode
    return Reading("floor_divide", as_tensors(a, b))


def rdiv(a: T, b: Any) -> Reading:
    return Reading("div", as_tensors(b, a))


def rmod(a: T, b: Any) -> Reading:
    return Reading("remainder", as_tensors(b, a))


def rpow(a: T, b: Any) -> Reading:
    return Reading("pow", as_tensors(b, a))


def float_power(a: Any, b: Any) -> Reading:
    return Reading("pow", as_tensors(a, b))


def heaviside(x: T, values: T) -> Reading:
    """Step is heaviside with 0 in place of the values at zero."""
    x = x.expand(torch.broadcast_shapes(x.shape, values.shape))
    return Reading("step", (x,), {}, lambda y: (torch.where(x == 0, torch.zeros_like(y), y),))


def lerp(a: T, b: T, weight: Any) -> Reading:
    return Reading("lerp", (a, b, as_tensor(weight, a)))


def ldexp(a: T, b: T) -> Reading:
    return Reading("mul", (a, torch.exp2(b)))


# Reductions


def amax_of_all(x: T) -> Reading:
    return Reading("amax", (x,))


def amin_of_all(x: T) -> Reading:
    return Reading("amin", (x,))


def _along(operator: str, outputs: Callable[[Any], tuple[Any, ...]]) -> Callable[..., Reading]:
    return lambda x, dim, keepdim=False: Reading(operator, (x,), {"dim": dim, "keepdim": keepdim}, outputs)


amax_along = _along("amax", first)
amin_along = _along("amin", first)
argmax_along = _along("argmax", second)
argmin_along = _along("argmin", second)


def amin_of_both(x: T, *, dim: Any = None, keepdim: bool = False) -> Reading:
    return Reading("amin", (x,), {"dim": dim, "keepdim": keepdim}, first)


def amax_of_both(x: T, *, dim: Any = None, keepdim: bool = False) -> Reading:
    return Reading("amax", (x,), {"dim": dim, "keepdim": keepdim}, second)


def unbiased(operator: str, which: int | None = None) -> Callable[..., Reading]:
    """Std or var whose correction is a bool, alone or beside the mean."""

    def read(x: T, dim: Any = None, unbiased: Any = True, keepdim: bool = False, correction: Any = None) -> Reading:
        dim, unbiased = (None, dim) if isinstance(dim, bool) else (dim, unbiased)
        number = int(unbiased) if correction is None else correction
        params = {"dim": dims_of(dim), "correction": number, "keepdim": keepdim}
        return Reading(operator, (x,), params, *(() if which is None else (first,)))

    return read


def of_two(operator: str, which: int) -> Callable[..., Reading]:
    """One of what std_mean and var_mean give."""

    def read(x: T, dim: Any = None, *, correction: Any = 1, keepdim: bool = False, unbiased: Any = None) -> Reading:
        correction = int(unbiased) if unbiased is not None else 1 if correction is None else correction
        params = {"dim": dims_of(dim), "keepdim": keepdim}
        params |= {} if operator == "mean" else {"correction": correction}
        return Reading(operator, (x,), params, (first, second)[which])

    return read


def vector_norm(x: T, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Reading:
    unless(dtype not in (None, x.dtype), "another dtype")
    return Reading("norm", (x,), {"p": float(ord), "dim": dims_of(dim), "keepdim": keepdim})


def linalg_norm(x: T, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Reading:
    dims = (dim,) if isinstance(dim, int) else tuple(dim if dim is not None else range(x.ndim))
    unless(ord is not None and len(dims) == 2 and ord != "fro", "a norm of matrices")
    p = 2.0 if ord in (None, "fro") else float(ord)
    return Reading("norm", (x,), {"p": p, "dim": dims_of(dim), "keepdim": keepdim})


def matrix_norm(x: T, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Reading:
    unless(ord != "fro", "a norm of matrices")
    unless(dtype not in (None, x.dtype), "another dtype")
    return Reading("norm", (x,), {"dim": tuple(dim), "keepdim": keepdim})


def norm(x: T, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Reading:
    unless(p == "nuc", "the nuclear norm")
    unless(dtype not in (None, x.dtype), "another dtype")
    number = 2.0 if p in ("fro", None) else float(p)
    return Reading("norm", (x,), {"p": number, "dim": dims_of(dim), "keepdim": keepdim})


def normalize(x: T, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Reading:
    unless(p != 2 or not isinstance(dim, int), "another norm")
    return Reading("l2_norm", (x,), {"dim": dim, "eps": eps})


def dist(a: T, b: T, p: Any = 2) -> Reading:
    return Reading("norm", (a - b,), {"p": float(p)})


def pairwise_distance(a: T, b: T, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Reading:
    return Reading("norm", (a - b + eps,), {"p": float(p), "dim": -1, "keepdim": keepdim})


def softmin(x: T, dim: int, dtype: Any = None, **_: Any) -> Reading:
    unless(dtype not in (None, x.dtype), "another dtype")
    return Reading("softmax", (-x,), {"dim": dim})


def safe_softmax(x: T, dim: int, dtype: Any = None) -> Reading:
    unless(dtype not in (None, x.dtype), "another dtype")
    return Reading("softmax", (x,), {"dim": dim})


def softmax_ext(x: T, dim: int, dtype: Any = None) -> Reading:
    unless(x.ndim < 3 or dim % x.ndim != x.ndim - 1, "not over the last of three axes or more")
    return Reading("softmax_ext", (x, None, None, None))


def masked_softmax(x: T, dim: int, *, dtype: Any = None, mask: Any = None) -> Reading:
    unless(
        mask is None or not x.ndim or mask.shape != x.shape or not mask.any(dim, keepdim=True).all(),
        "no mask of the shape, or rows without an element",
    )
    turned = x.transpose(dim, -1)
    unless(not x.numel(), "no element")

    def rows(t: T) -> T:
        return t.transpose(dim, -1).reshape(1, -1, turned.shape[-1])

    return Reading("softmax_ext", (rows(x), None, None, rows(mask)), {}, lambda y: (rows(y),))


def sum_to_size(x: T, *size: Any) -> Reading:
    size = shape_of(size)
    lead = x.ndim - len(size)
    dims = tuple(i for i in range(x.ndim) if i < lead or (size[i - lead] == 1 and x.shape[i] != 1))
    unless(not dims, "nothing is summed")
    return Reading("sum", (x,), {"dim": dims, "keepdim": True}, lambda y: (y.reshape((1,) * lead + tuple(y.shape)),))


def softmax_backward(g: T, y: T, dim: int, dtype: Any) -> Reading:
    unless(dim % max(y.ndim, 1) != max(y.ndim - 1, 0), "not along the last axis")
    return Reading("soft_max_back", (g, y))
