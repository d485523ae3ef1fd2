"""candle's functions by operator.

An entry takes the operator's tensors and parameters by our names and calls candle's own method or function; what its
Python package exposes none for is not here. Where candle's Rust composes one of a few others, such as sigmoid, that
composition stands here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import candle
import numpy as np
from candle import functional, nn

from opproof.backends.protocol import Unsupported


def _axes(x: Any, dim: int | Sequence[int] | None) -> list[int]:
    """The axes of `dim`, counted from the first: all of them where it is None."""
    given = range(x.rank) if dim is None else [dim] if isinstance(dim, int) else dim
    return sorted(axis % x.rank for axis in given)


def _keep(y: Any, x: Any, axes: Sequence[int], *, keepdim: bool) -> Any:
    """`y`, whose reduced axes have size 1, without them unless they are to stay."""
    shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    return y.reshape(tuple(shape if keepdim else (n for i, n in enumerate(x.shape) if i not in axes)))


def _sum(x: Any, *, dim: Any, keepdim: bool) -> Any:
    axes = _axes(x, dim)
    return _keep(x.sum_keepdim(axes) if x.rank else x, x, axes, keepdim=keepdim)


def _mean(x: Any, *, dim: Any, keepdim: bool) -> Any:
    if dim is None:
        return _keep(x.mean_all(), x, _axes(x, dim), keepdim=keepdim)
    return _sum(x, dim=dim, keepdim=keepdim) / float(math.prod(x.shape[axis] for axis in _axes(x, dim)))


def _along(name: str) -> Callable[..., Any]:
    """A reduction over one axis, or over all of them as one."""

    def reduce(x: Any, *, dim: Any, keepdim: bool) -> Any:
        axes = _axes(x, dim)
        if len(axes) > 1 and dim is not None:
            raise Unsupported(f"candle's {name} takes one axis")
        flat = x.flatten_all() if dim is None else x
        y = getattr(flat, name)(0 if dim is None else axes[0])
        return _keep(y.to_dtype(candle.i64) if "arg" in name else y, x, axes, keepdim=keepdim)

    return reduce


def _matmul(a: Any, b: Any) -> Any:
    """As candle_nn's Linear and others do it: batches are broadcast before, one vector is a matrix of one row."""
    left, right = (a.unsqueeze(0) if a.rank == 1 else a), (b.unsqueeze(1) if b.rank == 1 else b)
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left, right = (_repeat(x, (*batch, *x.shape[-2:])) for x in (left, right))
    y = left.matmul(right)
    shape = [*batch, *y.shape[-2:-1][: a.rank > 1], *y.shape[-1:][: b.rank > 1]]
    return y.reshape(tuple(shape))


def _spread(*tensors: Any) -> list[Any]:
    """Tensors of one shape."""
    shape = np.broadcast_shapes(*(x.shape for x in tensors))
    return [_repeat(x, shape) for x in tensors]


def _repeat(x: Any, shape: tuple[int, ...]) -> Any:
    return x if tuple(x.shape) == shape else x.broadcast_as(shape).contiguous()


def _where(condition: Any, a: Any, b: Any) -> Any:
    spread = _spread(condition, a, b)
    return spread[0].where_cond(*spread[1:])


def _compare(name: str) -> Callable[..., Any]:
    def compare(a: Any, b: Any) -> Any:
        left, right = _spread(a, b)
        return getattr(left, name)(right)

    return compare


def _pow(a: Any, b: Any = None, *, exponent: float | None) -> Any:
    if b is not None:
        raise Unsupported("candle's powf takes one exponent for all")
    return a.powf(float(exponent or 0.0))


def _gelu(x: Any, *, approximate: str) -> Any:
    if approximate != "none":
        raise Unsupported("candle's Python package has gelu by erf alone")
    return functional.gelu(x)


def _layer_norm(x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: Sequence[int], eps: float) -> Any:
    if x.rank != 3 or len(normalized_shape) != 1:
        raise Unsupported("candle's LayerNorm takes tensors of three axes, the last one normalised")
    layer = nn.LayerNorm(tuple(normalized_shape), eps, bias=bias is not None, dtype=x.dtype)
    if weight is not None:
        layer.weight = weight
    if bias is not None:
        layer.bias = bias
    return layer(x)


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    if x.rank not in (2, 3):
        raise Unsupported("candle's Linear takes matrices, and batches of them")
    layer = nn.Linear(*reversed(weight.shape), bias=bias is not None)
    layer.weight, layer.bias = weight, bias
    return layer(x)


def _pool(function: Callable[..., Any]) -> Callable[..., Any]:
    def pool(x: Any, *, kernel_size: Any, stride: Any, padding: Any, **others: Any) -> Any:
        size, step = (n if isinstance(n, int) else n[0] if len({*n}) == 1 else None
                      for n in (kernel_size, kernel_size if stride is None else stride))  # fmt: skip
        plain = {"dilation": 1, "ceil_mode": False, "count_include_pad": True, "divisor_override": None}
        if any(n not in (0, (0, 0)) for n in [padding]) or any(v not in (plain[k], (1, 1)) for k, v in others.items()):
            raise Unsupported("candle's pools have no padding, dilation or other divisor")
        if size is None or step is None or x.rank != 4:
            raise Unsupported("candle's pools take images in batches, with windows and steps as high as wide")
        return function(x, size, stride=step)

    return pool


def _embedding(weight: Any, indices: Any, *, padding_idx: int | None) -> Any:
    del padding_idx  # of gradients alone
    return weight.index_select(indices.flatten_all(), 0).reshape((*indices.shape, weight.shape[1]))


def _slice(x: Any, *, dim: int, start: int, end: int | None, step: int) -> Any:
    if step != 1:
        raise Unsupported("candle's narrow takes neighbours")
    (axis,) = _axes(x, dim)
    first, last, _ = slice(start, end).indices(x.shape[axis])
    return x.narrow(axis, first, max(last - first, 0))


def _expand(x: Any, *, shape: Sequence[int]) -> Any:
    sizes = (*(0,) * (len(shape) - x.rank), *x.shape)
    return x.broadcast_as(tuple(old if new == -1 else new for new, old in zip(shape, sizes, strict=True)))


TABLE: dict[str, Callable[..., Any]] = {
    # One tensor
    "abs": lambda x: x.abs(),
    "neg": lambda x: x * -1.0,
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "exp": lambda x: x.exp(),
    "log": lambda x: x.log(),
    "square": lambda x: x.sqr(),
    "sqrt": lambda x: x.sqrt(),
    "reciprocal": lambda x: x.recip(),
    "pow": _pow,
    "scale": lambda x, *, s, b: x * float(s) + float(b),
    "sigmoid": lambda x: ((x * -1.0).exp() + 1.0).recip(),  # candle_nn::ops::sigmoid
    "relu": functional.relu,
    "silu": functional.silu,
    "tanh": functional.tanh,
    "gelu": _gelu,
    "softmax": lambda x, *, dim: functional.softmax(x, _axes(x, dim)[0]),
    # Two and three tensors
    "add": lambda a, b: a.broadcast_add(b),
    "sub": lambda a, b: a.broadcast_sub(b),
    "mul": lambda a, b: a.broadcast_mul(b),
    "div": lambda a, b: a.broadcast_div(b),
    "eq": _compare("__eq__"),
    "ne": _compare("__ne__"),
    "lt": _compare("__lt__"),
    "le": _compare("__le__"),
    "gt": _compare("__gt__"),
    "ge": _compare("__ge__"),
    "where": _where,
    # Rows and matrices
    "sum": _sum,
    "mean": _mean,
    "amax": _along("max_keepdim"),
    "amin": _along("min_keepdim"),
    "argmax": _along("argmax_keepdim"),
    "argmin": _along("argmin_keepdim"),
    "layer_norm": _layer_norm,
    "matmul": _matmul,
    "bmm": lambda a, b: a.matmul(b),
    "linear": _linear,
    "max_pool2d": _pool(lambda x, size, *, stride: [functional.max_pool2d(x, size, stride=stride), None]),
    "avg_pool2d": _pool(functional.avg_pool2d),
    # Moves
    "concat": lambda *xs, dim: candle.cat(list(xs), _axes(xs[0], dim)[0]),
    "stack": lambda *xs, dim: candle.stack(list(xs), dim % (xs[0].rank + 1)),
    "slice": _slice,
    "transpose": lambda x, *, dim0, dim1: x.transpose(dim0 % x.rank, dim1 % x.rank),
    "reshape": lambda x, *, shape: x.reshape(tuple(shape)),
    "expand": _expand,
    "contiguous": lambda x: x.contiguous(),
    "embedding": _embedding,
    "index_select": lambda x, index, *, dim: x.index_select(index, _axes(x, dim)[0]),
    "gather": lambda x, index, *, dim: x.gather(index, _axes(x, dim)[0]),
}
