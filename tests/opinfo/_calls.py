"""Calls of PyTorch as calls of ours, where names alone do not tell: functions with PyTorch's signatures.

Each gives the operator, tensors in its order, and its parameters. Tensors may be made of the sample's by what autograd
knows: our gradients are drawn back through it. `outputs` makes our outputs of PyTorch's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from _oracle import NotExpressed, Reading
from _readers import unless

T = torch.Tensor


def _first(y: Any) -> tuple[Any, ...]:
    return (y[0],)


def _second(y: Any) -> tuple[Any, ...]:
    return (y[1],)


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
    return Reading("clamp", (x,), {"min": _number(min), "max": _number(max)})


def clamp_min(x: T, min: Any) -> Reading:
    return Reading("maximum", (x, min)) if isinstance(min, T) else clamp(x, min)


def clamp_max(x: T, max: Any) -> Reading:
    return Reading("minimum", (x, max)) if isinstance(max, T) else clamp(x, None, max)


def _number(value: Any) -> Any:
    unless(isinstance(value, T) and value.requires_grad, "a number has no gradient")
    return value.item() if isinstance(value, T) else value


def fill(x: T, value: Any, **given: Any) -> Reading:
    unless(given.get("dtype") not in (None, x.dtype), "another dtype")
    return Reading("fill", (x,), {"value": _number(value)})


def zeros_like(x: T, **given: Any) -> Reading:
    return fill(x, 0.0, **given)


def ones_like(x: T, **given: Any) -> Reading:
    return fill(x, 1.0, **given)


def new_zeros(x: T, *size: Any, **given: Any) -> Reading:
    return new_full(x, _shape(size), 0.0, **given)


def new_ones(x: T, *size: Any, **given: Any) -> Reading:
    return new_full(x, _shape(size), 1.0, **given)


def new_full(x: T, size: Any, value: Any, **given: Any) -> Reading:
    return fill(x.new_empty(tuple(size)), value, **given)


def arange(*args: Any, **given: Any) -> Reading:
    unless(given.get("dtype") == torch.int64, "whole numbers")
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
    return Reading("add1", (a, _tensor(b, a) * alpha))


def scale(a: Any, b: Any) -> Reading:
    unless(not isinstance(a, T) or isinstance(b, T), "two tensors")
    return Reading("scale", (a,), {"s": b})


def count_equal(a: Any, b: Any) -> Reading:
    unless(not isinstance(b, T) or a.shape != b.shape, "two tensors of a shape")
    return Reading("count_equal", (a, b), {}, lambda y: (y.sum(),))


def floor_divide(a: Any, b: Any, *, rounding_mode: str) -> Reading:
    del rounding_mode
    return Reading("floor_divide", _both(a, b))


def rdiv(a: T, b: Any) -> Reading:
    return Reading("div", _both(b, a))


def rmod(a: T, b: Any) -> Reading:
    return Reading("remainder", _both(b, a))


def rpow(a: T, b: Any) -> Reading:
    return Reading("pow", _both(b, a))


def float_power(a: Any, b: Any) -> Reading:
    return Reading("pow", _both(a, b))


def heaviside(x: T, values: T) -> Reading:
    """Step is heaviside with 0 in place of the values at zero."""
    x = x.expand(torch.broadcast_shapes(x.shape, values.shape))
    return Reading("step", (x,), {}, lambda y: (torch.where(x == 0, torch.zeros_like(y), y),))


def lerp(a: T, b: T, weight: Any) -> Reading:
    return Reading("lerp", (a, b, _tensor(weight, a)))


def ldexp(a: T, b: T) -> Reading:
    return Reading("mul", (a, torch.exp2(b)))


def _tensor(value: Any, like: T) -> T:
    return value if isinstance(value, T) else torch.tensor(value, dtype=like.dtype)


def _both(a: Any, b: Any) -> tuple[T, T]:
    unless(not isinstance(a, T) and not isinstance(b, T), "two numbers")
    return (a, _tensor(b, a)) if isinstance(a, T) else (_tensor(a, b), b)


# Reductions


def amax_of_all(x: T) -> Reading:
    return Reading("amax", (x,))


def amin_of_all(x: T) -> Reading:
    return Reading("amin", (x,))


def _along(operator: str, outputs: Callable[[Any], tuple[Any, ...]]) -> Callable[..., Reading]:
    return lambda x, dim, keepdim=False: Reading(operator, (x,), {"dim": dim, "keepdim": keepdim}, outputs)


amax_along = _along("amax", _first)
amin_along = _along("amin", _first)
argmax_along = _along("argmax", _second)
argmin_along = _along("argmin", _second)


def amin_of_both(x: T, *, dim: Any = None, keepdim: bool = False) -> Reading:
    return Reading("amin", (x,), {"dim": dim, "keepdim": keepdim}, _first)


def amax_of_both(x: T, *, dim: Any = None, keepdim: bool = False) -> Reading:
    return Reading("amax", (x,), {"dim": dim, "keepdim": keepdim}, _second)


def unbiased(operator: str, which: int | None = None) -> Callable[..., Reading]:
    """Std or var whose correction is a bool, alone or beside the mean."""

    def read(
        x: T, dim: Any = None, unbiased: Any = True, keepdim: bool = False, correction: Any = None
    ) -> Reading:
        dim, unbiased = (None, dim) if isinstance(dim, bool) else (dim, unbiased)
        number = int(unbiased) if correction is None else correction
        params = {"dim": _dims(dim), "correction": number, "keepdim": keepdim}
        return Reading(operator, (x,), params, *(() if which is None else (_first,)))

    return read


def of_two(operator: str, which: int) -> Callable[..., Reading]:
    """One of what std_mean and var_mean give."""

    def read(x: T, dim: Any = None, *, correction: Any = 1, keepdim: bool = False, unbiased: Any = None) -> Reading:
        correction = int(unbiased) if unbiased is not None else 1 if correction is None else correction
        params = {"dim": _dims(dim), "keepdim": keepdim}
        params |= {} if operator == "mean" else {"correction": correction}
        return Reading(operator, (x,), params, (_first, _second)[which])

    return read


def _dims(dim: Any) -> Any:
    return (tuple(dim) or None) if isinstance(dim, list | tuple) else dim


def vector_norm(x: T, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Reading:
    unless(dtype not in (None, x.dtype), "another dtype")
    return Reading("norm", (x,), {"p": float(ord), "dim": _dims(dim), "keepdim": keepdim})


def linalg_norm(x: T, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Reading:
    dims = (dim,) if isinstance(dim, int) else tuple(dim if dim is not None else range(x.ndim))
    unless(ord is not None and len(dims) == 2 and ord != "fro", "a norm of matrices")
    p = 2.0 if ord in (None, "fro") else float(ord)
    return Reading("norm", (x,), {"p": p, "dim": _dims(dim), "keepdim": keepdim})


def matrix_norm(x: T, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Reading:
    unless(ord != "fro", "a norm of matrices")
    unless(dtype not in (None, x.dtype), "another dtype")
    return Reading("norm", (x,), {"dim": tuple(dim), "keepdim": keepdim})


def norm(x: T, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Reading:
    unless(p == "nuc", "the nuclear norm")
    unless(dtype not in (None, x.dtype), "another dtype")
    number = 2.0 if p in ("fro", None) else float(p)
    return Reading("norm", (x,), {"p": number, "dim": _dims(dim), "keepdim": keepdim})


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


def softmax_ext(x: T, dim: int, dtype: Any = None) -> Reading:
    unless(x.ndim < 3 or dim % x.ndim != x.ndim - 1, "not over the last of three axes or more")
    return Reading("softmax_ext", (x, None, None, None))


def masked_softmax(x: T, dim: int, *, dtype: Any = None, mask: Any = None) -> Reading:
    unless(mask is None or not x.ndim or mask.shape != x.shape or not mask.any(dim, keepdim=True).all(), "no mask of the shape, or rows without an element")
    turned = x.transpose(dim, -1)
    unless(not x.numel(), "no element")

    def rows(t: T) -> T:
        return t.transpose(dim, -1).reshape(1, -1, turned.shape[-1])

    return Reading("softmax_ext", (rows(x), None, None, rows(mask)), {}, lambda y: (rows(y),))


def sum_to_size(x: T, *size: Any) -> Reading:
    size = _shape(size)
    lead = x.ndim - len(size)
    dims = tuple(i for i in range(x.ndim) if i < lead or (size[i - lead] == 1 and x.shape[i] != 1))
    unless(not dims, "nothing is summed")
    return Reading("sum", (x,), {"dim": dims, "keepdim": True}, lambda y: (y.reshape((1,) * lead + tuple(y.shape)),))


def softmax_backward(g: T, y: T, dim: int, dtype: Any) -> Reading:
    unless(dim % max(y.ndim, 1) != max(y.ndim - 1, 0), "not along the last axis")
    return Reading("soft_max_back", (g, y))


# Products


def einsum(operands: Any, equation: str | None = None) -> Reading:
    equation, operands = (operands, equation) if isinstance(operands, str) else (equation, operands)
    unless(not isinstance(operands, list | tuple) or len(operands) != 2, "not two tensors")
    unless("." in str(equation) or "->" not in str(equation), "an equation without a result, or with ...")
    text = str(equation).replace(" ", "")
    left, _, result = text.partition("->")
    a, b = left.split(",")
    twice = any(len(set(t)) < len(t) for t in (a, b, result))
    alone = set(a) - set(b) - set(result) or set(b) - set(a) - set(result)
    unless(twice or alone, "an index twice, or in one tensor alone")
    return Reading("einsum", tuple(operands), {"equation": text})


def tensordot(a: T, b: T, dims: Any = 2) -> Reading:
    first, second = (
        (range(a.ndim - dims, a.ndim), range(dims)) if isinstance(dims, int) else ([*dims[0]], [*dims[1]])
    )
    unless(any(a.shape[i] != b.shape[j] for i, j in zip(first, second, strict=True)), "axes that broadcast")
    letters = "abcdefghijkl"
    left = [*letters[: a.ndim]]
    right = [*letters[a.ndim : a.ndim + b.ndim]]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    result = [x for x in [*left, *right] if not (x in left and x in right)]
    return Reading("einsum", (a, b), {"equation": f"{''.join(left)},{''.join(right)}->{''.join(result)}"})


def vecdot(a: T, b: T, *, dim: int = -1) -> Reading:
    return Reading("sum", (a * b,), {"dim": dim})


def addmv(x: T, a: T, b: T, *, beta: Any = 1, alpha: Any = 1) -> Reading:
    whole = x.expand(a.shape[:1])
    return Reading("addmv", (whole, a, b), {"beta": float(beta), "alpha": float(alpha)})


def inner(a: T, b: T) -> Reading:
    if not (a.ndim and b.ndim):
        return Reading("mul", (a, b))
    return Reading("dot", (a, b)) if a.ndim == b.ndim == 1 else Reading("linear", (a, b, None))


def multi_dot(tensors: Sequence[T]) -> Reading:
    unless(len(tensors) != 2, "not two matrices")
    return Reading("matmul", tuple(tensors))


def matrix_power(x: T, n: int) -> Reading:
    unless(n not in (-1, 2), "neither a square nor an inverse")
    return Reading("inverse", (x,)) if n == -1 else Reading("matmul", (x, x))


def inv_ex(x: T, *, check_errors: bool = False) -> Reading:
    return Reading("inverse", (x,), {}, _first)


def cholesky(x: T, upper: bool = False) -> Reading:
    return Reading("cholesky", (x.mT if upper else x,), {}, lambda y: (y.mT if upper else y,))


def cholesky_ex(x: T, *, upper: bool = False, check_errors: bool = False) -> Reading:
    return Reading("cholesky", (x,), {}, lambda y: (y[0].mT if upper else y[0],))


def triangular_solve(b: T, a: T, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Reading:
    return Reading(
        "solve_triangular",
        (a.mT if transpose else a, b),
        {"upper": upper != transpose, "unitriangular": unitriangular},
        _first,
    )


def addr(x: T, a: T, b: T, *, beta: Any = 1, alpha: Any = 1) -> Reading:
    unless(x.dtype != torch.float64, "integers")
    return Reading("addmm", (x, a[:, None], b[None]), {"beta": float(beta), "alpha": float(alpha)})


def mul_mat_id(a: T, b: T) -> Reading:
    """The experts are the batch, each chosen by the tokens that are its columns."""
    n, _, columns = b.shape
    ids = torch.arange(n).repeat_interleave(columns)[:, None]
    tokens = b.mT.reshape(n * columns, 1, -1)
    return Reading("mul_mat_id", (a, tokens, ids), {}, lambda y: (y.mT.reshape(n * columns, 1, -1),))


def attention(
    q: T, k: T, v: T, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None,
    enable_gqa: bool = False,
) -> Reading:  # fmt: skip
    unless(dropout_p, "dropout")
    unless(q.ndim < 3, "no batch")
    unless(q.shape[:-3] != k.shape[:-3], "batches that broadcast")
    whole = [t if t.ndim == 4 else t.reshape(-1 if t.ndim > 4 else 1, *t.shape[-3:]) for t in (q, k, v)]
    floats = attn_mask is not None and attn_mask.is_floating_point()
    mask = None if attn_mask is None else _four(attn_mask)
    params = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    tensors = (*whole, mask if floats else None, None if floats else mask, None)
    return Reading(
        "scaled_dot_product_attention", tensors, params, lambda y: (y.reshape(-1, *y.shape[-3:]),)
    )


def _four(mask: T) -> T:
    unless(mask.ndim > 4, "a mask of five axes")
    return mask


def sliding_window_attention(
    q: T, k: T, v: T, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None,
    enable_gqa: bool = False,
) -> Reading:  # fmt: skip
    unless(dropout_p or attn_mask is not None or enable_gqa, "a mask, dropout or groups")
    unless(q.ndim != 4 or (is_causal and q.shape[-2] != k.shape[-2]), "no batch, or other queries than keys")
    params = {"left": -1, "right": 0 if is_causal else -1, "scale": scale}
    return Reading("sliding_window_attention", (q, k, v), params)


def varlen_attention(
    q: T, k: T, v: T, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None,
    enable_gqa: bool = False,
) -> Reading:  # fmt: skip
    """The batch's sequences are as long as each other, one behind another."""
    unless(dropout_p or attn_mask is not None or enable_gqa, "a mask, dropout or groups")
    unless(q.ndim != 4 or (is_causal and q.shape[-2] != k.shape[-2]), "no batch, or other queries than keys")
    q_ends, k_ends = (torch.arange(t.shape[0] + 1) * t.shape[2] for t in (q, k))
    packed = [t.transpose(1, 2).reshape(-1, t.shape[1], t.shape[3]) for t in (q, k, v)]
    params = {"causal": is_causal, "scale": scale}
    return Reading(
        "varlen_attention",
        (*packed, q_ends, k_ends),
        params,
        lambda y: (y.transpose(1, 2).reshape(-1, y.shape[1], y.shape[3]),),
    )


# Convolutions and windows


def ssm_conv(x: T, weight: T, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Reading:
    plain = bias is None and _all(stride, 1) and _all(padding, 0) and _all(dilation, 1)
    unless(not plain or x.ndim != 3 or groups != x.shape[1] or weight.shape[0] != groups, "not one filter a channel alone")
    return Reading("ssm_conv", (x, weight[:, 0]), {}, lambda y: (y.mT,))


def _all(value: Any, number: int) -> bool:
    return value != "same" and value != "valid" and all(v == number for v in (value if isinstance(value, tuple | list) else (value,)))


def _conv(operator: str, axes: int) -> Callable[..., Reading]:
    """A convolution, of an image without a batch as a batch of one; padding by a word where it is the same at both ends."""

    def read(
        x: T, weight: T, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Reading:
        alone = x.ndim == axes + 1
        params = {"stride": stride, "padding": _padding(weight, padding, dilation), "dilation": dilation}
        params = {n: v[0] if isinstance(v, tuple) and len(v) == 1 else v for n, v in params.items()}
        whole = x[None] if alone else x
        return Reading(operator, (whole, weight, bias), params | {"groups": groups}, lambda y: (y[None] if alone else y,))

    return read


def _padding(weight: T, padding: Any, dilation: Any) -> Any:
    if not isinstance(padding, str):
        return padding
    if padding == "valid":
        return 0
    sizes = weight.shape[2:]
    dilations = dilation if isinstance(dilation, tuple | list) else (dilation,) * len(sizes)
    whole = [d * (n - 1) for d, n in zip(dilations, sizes, strict=True)]
    unless(any(n % 2 for n in whole), "padding that differs at both ends")
    return tuple(n // 2 for n in whole)


conv1d = _conv("conv1d", 1)
conv2d = _conv("conv2d", 2)
conv3d = _conv("conv3d", 3)


def _conv_transpose(operator: str, axes: int) -> Callable[..., Reading]:
    def read(
        x: T, weight: T, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1,
    ) -> Reading:  # fmt: skip
        alone = x.ndim == axes + 1
        params = {"stride": stride, "padding": padding, "output_padding": output_padding, "dilation": dilation}
        params = {n: v[0] if isinstance(v, tuple | list) and len(v) == 1 else v for n, v in params.items()}
        whole = x[None] if alone else x
        return Reading(operator, (whole, weight, bias), params | {"groups": groups}, lambda y: (y[None] if alone else y,))

    return read


conv_transpose1d = _conv_transpose("conv_transpose1d", 1)
conv_transpose2d = _conv_transpose("conv_transpose2d", 2)


def depthwise(x: T, weight: T, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Reading:
    unless(x.ndim != 4 or groups != x.shape[1] or weight.shape[0] != groups, "not one filter a channel")
    unless(isinstance(padding, str), "padding by a word")
    return Reading("conv2d_depthwise", (x, weight, bias), {"stride": stride, "padding": padding, "dilation": dilation})


def _pooled(operator: str, axes: int, names: Sequence[str], indices: bool = False) -> Callable[..., Reading]:
    """A pool's parameters by their order in PyTorch; an image without a batch becomes a batch of one."""

    def read(x: T, *args: Any, **given: Any) -> Reading:
        params = dict(zip(names, args, strict=False)) | given
        wanted = bool(params.pop("return_indices", False))
        params = {n: (tuple(v) or None) if isinstance(v, list | tuple) else v for n, v in params.items()}
        params = {n: v[0] if isinstance(v, tuple) and len(v) == 1 else v for n, v in params.items()}
        alone = x.ndim == axes + 1
        whole = x[None] if alone else x

        def outputs(y: Any) -> tuple[Any, ...]:
            ys = y if wanted else (y,)
            return tuple(t[None] if alone else t for t in ys)

        return Reading(operator, (whole,), params, outputs)

    return read


_MAX = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
_MEAN = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
max_pool1d = _pooled("max_pool1d", 1, _MAX)
max_pool2d = _pooled("max_pool2d", 2, _MAX)
max_pool3d = _pooled("max_pool3d", 3, _MAX)
avg_pool1d = _pooled("avg_pool1d", 1, _MEAN)
avg_pool2d = _pooled("avg_pool2d", 2, _MEAN)
avg_pool3d = _pooled("avg_pool3d", 3, _MEAN)


def adaptive_avg_pool1d(x: T, output_size: Any) -> Reading:
    size = output_size[0] if isinstance(output_size, tuple | list) else output_size
    whole = x if x.ndim == 3 else x[None]
    return Reading(
        "adaptive_avg_pool2d",
        (whole[:, :, None],),
        {"output_size": (1, whole.shape[-1] if size is None else size)},
        lambda y: ((y if x.ndim == 3 else y[None])[:, :, None],),
    )


def adaptive_avg_pool2d(x: T, output_size: Any) -> Reading:
    both = output_size if isinstance(output_size, tuple | list) else (output_size, output_size)
    size = tuple(n if o is None else o for n, o in zip(x.shape[-2:], both, strict=True))
    return Reading(
        "adaptive_avg_pool2d",
        (x if x.ndim == 4 else x[None],),
        {"output_size": size},
        lambda y: (y if x.ndim == 4 else y[None],),
    )


def im2col(x: T, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Reading:
    params = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return Reading("im2col", (x if x.ndim == 4 else x[None],), params, lambda y: (y if x.ndim == 4 else y[None],))


def interpolate(
    x: T, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None,
    recompute_scale_factor: Any = None, antialias: bool = False,
) -> Reading:  # fmt: skip
    unless(antialias, "antialiasing")
    unless(mode == "area", "the mean of areas is adaptive_avg_pool2d, of two axes")
    axes = x.ndim - 2
    unless(axes not in (1, 2), "three axes")
    whole = x if axes == 2 else x[:, :, None]
    if size is not None:
        out = tuple(size) if isinstance(size, tuple | list) else (size,) * axes
    else:
        factors = tuple(scale_factor) if isinstance(scale_factor, tuple | list) else (scale_factor,) * axes
        out = tuple(math.floor(n * f) for n, f in zip(x.shape[2:], factors, strict=True))
        unless(
            any(o != n * f for o, n, f in zip(out, x.shape[2:], factors, strict=True)) and not recompute_scale_factor,
            "a scale that is not the ratio of the sizes",
        )
    params: dict[str, Any] = {"size": out if axes == 2 else (1, *out)}
    operator = {"nearest": "nearest", "bilinear": "bilinear", "linear": "bilinear", "bicubic": "bicubic"}.get(mode)
    unless(operator is None, f"mode {mode}")
    unless(operator == "bicubic" and axes == 1, "one axis")
    if operator != "nearest":
        params["align_corners"] = bool(align_corners)
    return Reading(
        f"upsample_{operator}", (whole,), params, lambda y: (y if axes == 2 else y[:, :, None],)
    )


def upsample_nearest(x: T, size: Any = None, scale_factor: Any = None) -> Reading:
    return interpolate(x, size, scale_factor)


def upsample_bilinear(x: T, size: Any = None, scale_factor: Any = None) -> Reading:
    return interpolate(x, size, scale_factor, "bilinear", True)


def grid_sample(x: T, grid: T, mode: str, padding_mode: str, align_corners: bool) -> Reading:
    unless(mode == "bicubic", "bicubic")
    unless(x.ndim != 4, "volumes")
    return Reading("grid_sample", (x, grid), {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners})


def grid_sampler_2d(x: T, grid: T, mode: int, padding_mode: int, align_corners: bool) -> Reading:
    params = {
        "mode": ("bilinear", "nearest", "bicubic")[mode],
        "padding_mode": ("zeros", "border", "reflection")[padding_mode],
        "align_corners": align_corners,
    }
    unless(mode == 2, "bicubic")
    return Reading("grid_sample", (x, grid), params)


def _planes(y: Any) -> tuple[Any, ...]:
    return (y.real, y.imag if y.is_complex() else torch.zeros_like(y))


def stft(
    x: T, n_fft: int, hop_length: Any = None, win_length: Any = None, window: Any = None, center: bool = False,
    pad_mode: str = "reflect", normalized: bool = False, onesided: Any = None, return_complex: Any = None,
    align_to_window: Any = None,
) -> Reading:  # fmt: skip
    unless(normalized or onesided is False or not return_complex, "normalised, two-sided or as pairs")
    unless(window is None or window.is_complex() or window.shape[0] != n_fft, "another window than n_fft long")
    unless(center and pad_mode != "reflect", "padding other than by reflection")
    whole = x if x.ndim == 2 else x[None]
    params = {"n_fft": n_fft, "hop_length": n_fft // 4 if hop_length is None else hop_length, "center": center}
    return Reading("stft", (whole, window), params, lambda y: _planes(y if x.ndim == 2 else y[None]))


def _resized(x: T, n: Any, dim: int) -> T:
    """The signal cut, or with zeros behind it, as PyTorch's `n` says."""
    if n is None or n == x.shape[dim]:
        return x
    if n < x.shape[dim]:
        return x.narrow(dim, 0, n)
    zeros = x.new_zeros([n - x.shape[dim] if i == dim % x.ndim else s for i, s in enumerate(x.shape)])
    return torch.cat([x, zeros], dim)


def fft(*, inverse: bool) -> Callable[..., Reading]:
    def read(x: T, n: Any = None, dim: int = -1, norm: Any = None) -> Reading:
        x = _resized(x, n, dim)
        params = {"dim": dim, "norm": norm or "backward", "inverse": inverse}
        return Reading("fft", (x, torch.zeros_like(x)), params, _planes)

    return read


def rfft(x: T, n: Any = None, dim: int = -1, norm: Any = None) -> Reading:
    return Reading("rfft", (_resized(x, n, dim),), {"dim": dim, "norm": norm or "backward"}, _planes)


def ihfft(x: T, n: Any = None, dim: int = -1, norm: Any = None) -> Reading:
    """The conjugate of rfft, divided the other way."""
    other = {"backward": "forward", "forward": "backward", "ortho": "ortho"}[norm or "backward"]
    return Reading("rfft", (_resized(x, n, dim),), {"dim": dim, "norm": other}, lambda y: (y.real, -y.imag))


def _one_axis(x: T, s: Any, dim: Any) -> tuple[Any, int]:
    dims = [dim] if isinstance(dim, int) else dim
    if dims is None:
        dims = [*range(-len(s), 0)] if s is not None else [*range(-x.ndim, 0)]
    unless(len(dims) != 1, "several axes")
    return (None if s is None else (s[0] if isinstance(s, tuple | list) else s)), dims[0]


def fftn(*, inverse: bool) -> Callable[..., Reading]:
    def read(x: T, s: Any = None, dim: Any = None, norm: Any = None) -> Reading:
        return fft(inverse=inverse)(x, *_one_axis(x, s, dim), norm)

    return read


def rfftn(x: T, s: Any = None, dim: Any = None, norm: Any = None) -> Reading:
    return rfft(x, *_one_axis(x, s, dim), norm)


def fftshift(x: T, dim: Any = None) -> Reading:
    return _shifted(x, dim, 1)


def ifftshift(x: T, dim: Any = None) -> Reading:
    return _shifted(x, dim, -1)


def _shifted(x: T, dim: Any, sign: int) -> Reading:
    dims = tuple(range(x.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    shifts = tuple(x.shape[d] // 2 if sign > 0 else (x.shape[d] + 1) // 2 for d in dims)
    return Reading("roll", (x,), {"shifts": shifts, "dims": dims})


# Normalisations


def layer_norm(x: T, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Reading:
    return Reading("layer_norm", (x, weight, bias), {"normalized_shape": tuple(normalized_shape), "eps": eps})


def native_layer_norm(x: T, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Reading:
    return Reading("layer_norm", (x, weight, bias), {"normalized_shape": tuple(normalized_shape), "eps": eps}, _first)


def rms_norm(x: T, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Reading:
    shape = tuple(normalized_shape)
    lead = x.shape[: x.ndim - len(shape)]
    flat = [t if t is None else t.reshape(*t.shape[: t.ndim - len(shape)], math.prod(shape)) for t in (x, weight)]
    params = {"eps": torch.finfo(x.dtype).eps if eps is None else eps}
    return Reading("rms_norm", tuple(flat), params, lambda y: (y.reshape(*lead, math.prod(shape)),))


def native_group_norm(x: T, weight: Any, bias: Any, n: int, c: int, hw: int, groups: int, eps: float) -> Reading:
    return Reading("group_norm", (x.reshape(n, c, hw), weight, bias), {"num_groups": groups, "eps": eps}, lambda y: (y[0].reshape(n, c, hw),))


def instance_norm(
    x: T, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Reading:  # fmt: skip
    unless(not use_input_stats, "running moments")
    return Reading("instance_norm", (x, weight, bias), {"eps": eps})


def batch_norm(
    x: T, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Reading:  # fmt: skip
    unless(x.ndim < 2, "no channels")
    moments = (None, None) if training else (running_mean, running_var)
    return Reading("batch_norm", (x, *moments, weight, bias), {"training": training, "eps": eps})


def batch_norm_training(
    x: T, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Reading:  # fmt: skip
    unless(not training or running_mean is None or running_var is None, "no training, or no running moments")
    moments = (torch.zeros_like(running_mean), torch.ones_like(running_var))  # those given are moved by now
    return Reading("batch_norm_training", (x, *moments, weight, bias), {"momentum": momentum, "eps": eps})


def native_batch_norm(
    x: T, weight: Any, bias: Any, running_mean: Any = None, running_var: Any = None, training: Any = None,
    momentum: Any = None, eps: Any = None,
) -> Reading:  # fmt: skip
    if isinstance(running_mean, bool):
        running_mean, running_var, training, momentum, eps = None, None, running_mean, running_var, training
    moments = (None, None) if training else (running_mean, running_var)
    return Reading("batch_norm", (x, *moments, weight, bias), {"training": training, "eps": eps}, _first)


# Drawn


def dropout(y: T, x: T, p: float = 0.5, training: bool = True, inplace: bool = False) -> Reading:
    """Held against the elements that PyTorch kept."""
    kept = (y != 0) | (x == 0) if training else torch.ones_like(x, dtype=torch.bool)
    unless(training and bool((x == 0).any()), "a zero may be kept or dropped")
    return Reading("dropout", (x, kept), {"p": p, "training": training})


def feature_dropout(y: T, x: T, p: float = 0.5, training: bool = True, inplace: bool = False) -> Reading:
    return dropout(y, x, p, training)


def native_dropout_backward(g: T, mask: T, scale: float) -> Reading:
    return Reading("mul", (g, mask.to(g.dtype) * scale))


# Losses


def linear_cross_entropy(x: T, weights: T, target: T, **given: Any) -> Reading:
    unless(x.ndim != 2 or weights.ndim != 2 or target.is_floating_point(), "no matrices and class indices")
    wanted = {n for n, v in given.items() if v is not None and n not in ("chunking_method", "options")}
    left = wanted - {"ignore_index", "label_smoothing", "reduction"}
    unless(left, f"no place for {', '.join(sorted(left))}")
    params = {n: given[n] for n in ("ignore_index", "label_smoothing", "reduction") if n in given}
    return Reading("linear_cross_entropy", (x, weights, target), params)


# Indices


def embedding(weight: T, indices: T, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Reading:
    unless(max_norm is not None, "renormalised rows")
    unless(scale_grad_by_freq, "a gradient divided by frequencies")
    if padding_idx is not None:
        padding_idx %= weight.shape[0]
    return Reading("embedding", (weight, indices), {"padding_idx": padding_idx})


def embedding_bag(weight: T, indices: T, offsets: Any = None, **given: Any) -> Reading:
    unless(given.get("max_norm") is not None, "renormalised rows")
    unless(given.get("scale_grad_by_freq"), "a gradient divided by frequencies")
    unless(offsets is not None or indices.ndim != 2, "bags of several lengths")
    padding = given.get("padding_idx")
    params = {"mode": given.get("mode", "mean"), "padding_idx": None if padding is None else padding % weight.shape[0]}
    return Reading("embedding_bag", (weight, indices, given.get("per_sample_weights")), params)


def one_hot(index: T, num_classes: int = -1) -> Reading:
    return Reading("one_hot", (index,), {"num_classes": int(index.max()) + 1 if num_classes == -1 else num_classes})


def gather(x: T, dim: int, index: T, *, sparse_grad: bool = False) -> Reading:
    unless(index.ndim != x.ndim, "an index of another rank")
    return Reading("gather", (x, index), {"dim": dim})


def take(x: T, index: T) -> Reading:
    flat = index.reshape(-1)
    flat = torch.where(flat < 0, flat + x.numel(), flat)
    return Reading("gather", (x.reshape(-1), flat), {"dim": 0}, lambda y: (y.reshape(-1),))


def acc(x: T, dim: int, index: T, source: T, *, alpha: Any = 1) -> Reading:
    """Places that are evenly spaced are a strided view."""
    unless(not x.ndim or index.ndim != 1 or index.numel() == 0, "no axis")
    steps = set(torch.diff(index).tolist())
    unless(len(steps) > 1 or 0 in steps, "places that are not evenly spaced")
    strides = list(torch.empty(x.shape).stride())
    offset = int(index[0]) * strides[dim]
    strides[dim] *= steps.pop() if steps else 1
    return Reading("acc", (x, source * alpha), {"stride": tuple(strides), "offset": offset})


def index_copy(x: T, dim: int, index: T, source: T) -> Reading:
    unless(x.ndim != 2 or dim % 2, "not rows of a matrix")
    return Reading("set_rows", (x, source, index))


def index_put(x: T, indices: Sequence[T], values: T, accumulate: bool = False) -> Reading:
    unless(len(indices) != 1 or indices[0].dtype == torch.bool, "several indices, or a mask")
    (index,) = indices
    shape = (*index.shape, *x.shape[1:])
    unless(index.ndim != 1, "indices of several axes")
    whole = values.expand(shape)
    if accumulate:
        return Reading("index_add", (x, index, whole), {"dim": 0})
    unless(x.ndim != 2, "not rows of a matrix")
    return Reading("set_rows", (x, whole, index))


def scatter_number(x: T, dim: int, index: T, src: Any, *, reduce: Any = None) -> Reading:
    unless(reduce not in (None, "add") or not x.ndim, "another reduction")
    whole = src if isinstance(src, T) else torch.full(index.shape, src, dtype=x.dtype)
    return Reading("scatter" if reduce is None else "scatter_add", (x, index, whole), {"dim": dim})


def scatter_reduce_sum(x: T, dim: int, index: T, src: T, reduce: str, *, include_self: bool = True) -> Reading:
    unless(not include_self, "x left out")
    return Reading("scatter_add", (x, index, src), {"dim": dim})


def repeat_interleave(x: T, repeats: Any, dim: Any = None, **_: Any) -> Reading:
    unless(isinstance(repeats, T) and repeats.numel() > 1, "several numbers of repeats")
    number = int(repeats)
    whole = x.reshape(-1) if dim is None else x
    return Reading("repeat_interleave", (whole,), {"repeats": number, "dim": 0 if dim is None else dim})


def unfold(x: T, dim: int, size: int, step: int) -> Reading:
    strides = list(torch.empty(x.shape).stride())
    if not x.ndim:
        return Reading("as_strided", (x,), {"size": (size,), "stride": (1,)})
    dim %= x.ndim
    windows = (x.shape[dim] - size) // step + 1
    shape = [*x.shape[:dim], windows, *x.shape[dim + 1 :], size]
    stride = [*strides[:dim], strides[dim] * step, *strides[dim + 1 :], strides[dim]]
    return Reading("as_strided", (x,), {"size": tuple(shape), "stride": tuple(stride)})


def as_strided_scatter(x: T, b: T, size: Any, stride: Any, storage_offset: Any = 0) -> Reading:
    """Copied into the view is added to what is zero there."""
    places = torch.zeros(x.numel(), dtype=x.dtype).as_strided(size, stride, storage_offset or 0)
    unless(places.numel() != torch.unique(_numbers(x).as_strided(size, stride, storage_offset or 0)).numel(), "cells that overlap")
    hole = torch.as_strided_scatter(torch.ones_like(x), torch.zeros_like(b), size, stride, storage_offset or 0)
    return Reading("acc", (x * hole.detach(), b), {"stride": tuple(stride), "offset": storage_offset or 0})


def _numbers(x: T) -> T:
    return torch.arange(x.numel())


# Moves


def _shape(size: Sequence[Any]) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)


def expand(x: T, *size: Any) -> Reading:
    return Reading("expand", (x,), {"shape": _shape(size)})


def expand_as(x: T, other: T) -> Reading:
    return Reading("expand", (x,), {"shape": tuple(other.shape)})


def broadcast_tensors(*tensors: T) -> Reading:
    shape = torch.broadcast_shapes(*(t.shape for t in tensors))
    return Reading("expand", (tensors[0],), {"shape": tuple(shape)}, _first)


def meshgrid(*tensors: T, indexing: str = "ij") -> Reading:
    shape = [t.numel() for t in tensors]
    turned = indexing == "xy" and len(tensors) > 1
    if turned:
        shape[:2] = shape[1::-1]
    own = [1] * len(tensors)
    own[1 if turned else 0] = tensors[0].numel()
    return Reading("expand", (tensors[0].reshape(own),), {"shape": tuple(shape)}, _first)


def meshgrid_of_a_list(tensors: Sequence[T], **given: Any) -> Reading:
    return meshgrid(*tensors, **given)


def reshape(x: T, *shape: Any) -> Reading:
    return Reading("reshape", (x,), {"shape": _shape(shape)})


def reshape_as(x: T, other: T) -> Reading:
    return Reading("reshape", (x,), {"shape": tuple(other.shape)})


def reshaped(y: Any, x: Any, *args: Any, **given: Any) -> Reading:
    """What keeps the elements' order, by the shape that came."""
    unless(not isinstance(x, T) or not isinstance(y, T), "several tensors")
    return Reading("reshape", (x,), {"shape": tuple(y.shape)})


def pixel_unshuffle(y: T, x: T, downscale_factor: int) -> Reading:
    """PyTorch's result shuffled is its argument."""
    return Reading("pixel_shuffle", (y,), {"upscale_factor": downscale_factor}, lambda _: (x,))


def channel_shuffle(x: T, groups: int) -> Reading:
    n, c = x.shape[:2]
    parted = x.reshape(n, groups, c // groups, *x.shape[2:])
    return Reading("transpose", (parted,), {"dim0": 1, "dim1": 2}, lambda y: (y.reshape(n, c // groups, groups, *x.shape[2:]),))


def movedim(x: T, source: Any, destination: Any) -> Reading:
    numbers = torch.arange(x.numel()).reshape(x.shape)
    pairs = [(d,) if isinstance(d, int) else tuple(d) for d in (source, destination)]
    left = [d for d in range(x.ndim) if d not in {s % x.ndim for s in pairs[0]}]
    order: list[int] = [-1] * x.ndim
    for s, d in zip(*pairs, strict=True):
        order[d % x.ndim] = s % x.ndim
    rest = iter(left)
    del numbers
    return Reading("permute", (x,), {"dims": tuple(next(rest) if d == -1 else d for d in order)})


def permute(x: T, dims: Any) -> Reading:
    return Reading("permute", (x,), {"dims": tuple(dims)})


def flip(x: T, dims: Any) -> Reading:
    return Reading("flip", (x,), {"dims": (dims,) if isinstance(dims, int) else tuple(dims)})


def as_strided(x: T, size: Any, stride: Any, storage_offset: Any = None) -> Reading:
    """Ours counts from the tensor's own first element, of a tensor that is the whole of its memory."""
    unless(not x.is_contiguous() or x.untyped_storage().nbytes() != x.numel() * x.element_size(), "a view of more memory")
    params = {"size": tuple(size), "stride": tuple(stride), "storage_offset": storage_offset or 0}
    return Reading("as_strided", (x,), params)


def turned(x: T) -> Reading:
    unless(x.ndim < 2, "no two axes")
    return Reading("transpose", (x,), {"dim0": -2, "dim1": -1})


def rot90(x: T, k: int = 1, dims: Any = (0, 1)) -> Reading:
    unless(k % 4 != 2, "a quarter turn")
    return Reading("flip", (x,), {"dims": tuple(dims)})


def fliplr(x: T) -> Reading:
    return Reading("flip", (x,), {"dims": (1,)})


def flipud(x: T) -> Reading:
    return Reading("flip", (x,), {"dims": (0,)})


def roll(x: T, shifts: Any, dims: Any = None) -> Reading:
    if dims is None or dims == ():
        return Reading("roll", (x.reshape(-1),), {"shifts": shifts, "dims": 0}, lambda y: (y.reshape(-1),))
    return Reading("roll", (x,), {"shifts": shifts, "dims": dims})


def repeat(x: T, *repeats: Any) -> Reading:
    return Reading("repeat", (x,), {"repeats": _shape(repeats)})


def tile(x: T, *dims: Any) -> Reading:
    repeats = _shape(dims)
    return Reading("repeat", (x,), {"repeats": (1,) * (x.ndim - len(repeats)) + repeats})


def diag_mask_zero(x: T, diagonal: int = 0) -> Reading:
    unless(diagonal < 0, "a diagonal below the first")
    return Reading("diag_mask_zero", (x,), {"n_past": diagonal})


def diag_embed(x: T, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Reading:
    n = x.ndim + 1
    unless(x.ndim != 1 or {dim1 % n, dim2 % n} != {0, 1}, "a batch of diagonals")
    return Reading("diag", (x,), {"diagonal": offset if dim1 % n < dim2 % n else -offset})


def diagflat(x: T, offset: int = 0) -> Reading:
    return Reading("diag", (x.reshape(-1),), {"diagonal": offset})


def diagonal(x: T, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Reading:
    """A diagonal is a strided view."""
    strides = torch.empty(x.shape).stride()
    a, b = dim1 % x.ndim, dim2 % x.ndim
    length = max(min(x.shape[a] + min(offset, 0), x.shape[b] - max(offset, 0)), 0)
    left = [d for d in range(x.ndim) if d not in (a, b)]
    start = max(offset, 0) * strides[b] - min(offset, 0) * strides[a]
    unless(not length, "no element")
    size = (*(x.shape[d] for d in left), length)
    stride = (*(strides[d] for d in left), strides[a] + strides[b])
    return Reading("as_strided", (x,), {"size": size, "stride": stride, "storage_offset": start})


def linalg_diagonal(x: T, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Reading:
    return diagonal(x, offset, dim1, dim2)


def cat(tensors: Any, dim: int = 0, **given: Any) -> Reading:
    tensors = tuple(tensors)
    unless(len({t.dtype for t in tensors}) > 1, "dtypes that are promoted")
    full = max(t.ndim for t in tensors)
    unless(any(t.ndim < full for t in tensors), "an empty tensor of another rank")
    return Reading("concat", tensors, {"dim": given.get("axis", dim)})


def hstack(tensors: Any) -> Reading:
    whole = torch.atleast_1d(*tensors)
    return cat(whole, 0 if whole[0].ndim == 1 else 1)


def vstack(tensors: Any) -> Reading:
    return cat(torch.atleast_2d(*tensors))


def dstack(tensors: Any) -> Reading:
    return cat(torch.atleast_3d(*tensors), 2)


def column_stack(tensors: Any) -> Reading:
    return cat([t if t.ndim > 1 else t.reshape(-1, 1) for t in tensors], 1)


def split_along(y: Any, x: T, sections: Any, dim: int = 0) -> Reading:
    unless(not y, "no part")
    return Reading("split", (x,), {"sizes": tuple(t.shape[dim] for t in y), "dim": dim})


def hsplit(y: Any, x: T, sections: Any) -> Reading:
    return split_along(y, x, sections, 0 if x.ndim == 1 else 1)


def vsplit(y: Any, x: T, sections: Any) -> Reading:
    return split_along(y, x, sections)


def dsplit(y: Any, x: T, sections: Any) -> Reading:
    return split_along(y, x, sections, 2)


def unbind(x: T, dim: int = 0) -> Reading:
    unless(not x.shape[dim], "no part")
    sizes = (1,) * x.shape[dim]
    return Reading("split", (x,), {"sizes": sizes, "dim": dim}, lambda y: tuple(t.unsqueeze(dim) for t in y))


def narrow(x: T, dim: int, start: Any, length: int) -> Reading:
    start = int(start)
    start += x.shape[dim] if start < 0 else 0
    return Reading("slice", (x,), {"dim": dim, "start": start, "end": start + length})


def select(x: T, dim: int, index: int) -> Reading:
    return Reading("slice", (x,), {"dim": dim, "start": index % x.shape[dim], "end": index % x.shape[dim] + 1}, lambda y: (y.unsqueeze(dim),))


def slice_of(x: T, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Reading:
    return Reading("slice", (x,), {"dim": dim, "start": start or 0, "end": end, "step": step})


def getitem(x: T, index: Any) -> Reading:
    items = index if isinstance(index, tuple | list) else (index,)
    unless(not all(isinstance(i, slice | int) and not isinstance(i, bool) for i in items), "indices that are no slices")
    cut = [(d, i) for d, i in enumerate(items) if i != slice(None)]
    unless(len(cut) > 1, "slices of several axes")
    unless(not cut, "no slice")
    ((dim, item),) = cut
    if isinstance(item, int):
        return select(x, dim, item)
    return slice_of(x, dim, item.start, item.stop, item.step or 1)


def slice_scatter(x: T, b: T, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Reading:
    unless(step != 1, "steps of several cells")
    start = (start or 0) + (x.shape[dim] if (start or 0) < 0 else 0)
    return Reading("set", (x, b), {"offset": tuple(start if d == dim % x.ndim else 0 for d in range(x.ndim))})


def select_scatter(x: T, b: T, dim: int, index: int) -> Reading:
    return slice_scatter(x, b.unsqueeze(dim), dim, index)


def diagonal_scatter(x: T, b: T, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Reading:
    view = diagonal(x, offset, dim1, dim2).params
    return as_strided_scatter(x, b, view["size"], view["stride"], view["storage_offset"])


def masked_fill(x: T, mask: T, value: Any) -> Reading:
    unless(torch.broadcast_shapes(x.shape, mask.shape) != x.shape, "x broadcasts to the mask")
    return Reading("masked_fill", (x, mask), {"value": _number(value)})


def where(a: Any, condition: T, b: Any) -> Reading:
    """An entry's own order: the function is a method of a."""
    unless(isinstance(a, T) and isinstance(b, T) and a.dtype != b.dtype, "dtypes that are promoted")
    return Reading("where", (condition, *_both(a, b)))


def msort(x: T) -> Reading:
    return Reading("sort", (x,), {"dim": 0})


_ = itertools
_ = NotExpressed
