"""The standard's functions by operator.

An entry takes the namespace, then the operator's tensors and parameters by our names, and calls the function of the
standard (version 2025.12) of that name. What the standard has no function for is not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.backends.protocol import Unsupported
from opproof.core.dtypes import DTYPES

#: Operators of the same tensors, without parameters, whose name in the standard is another one.
NAMES = {
    "bmm": "matmul", "dot": "vecdot", "div": "divide", "eq": "equal", "ge": "greater_equal", "gt": "greater",
    "le": "less_equal", "lt": "less", "mul": "multiply", "ne": "not_equal", "neg": "negative", "sub": "subtract",
    "bitwise_not": "bitwise_invert",
}  # fmt: skip
#: Those whose name is the same.
ALIKE = (
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_left_shift",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "copysign", "cos", "cosh", "exp", "expm1", "floor",
    "floor_divide", "hypot", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logaddexp", "matmul",
    "maximum", "minimum", "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square",
    "tan", "tanh", "trunc",
)  # fmt: skip


def _call_directly(name: str) -> Callable[..., Any]:
    return lambda xp, *tensors: getattr(xp, name)(*tensors)


def _call_linalg(name: str, **given: str) -> Callable[..., Any]:
    """A function of the extension for linear algebra; its parameters by our names."""
    return lambda xp, *xs, **params: getattr(xp.linalg, name)(*xs, **{given[k]: v for k, v in params.items()})


def _call_in_wide(name: str) -> Callable[..., Any]:
    """One of the linear algebra that no library has in 16 bits, nor the standard."""

    def solve(xp: Any, *xs: Any) -> Any:
        for x in xs:
            _decline_16_bits(xp, x)
        return getattr(xp.linalg, name)(*xs)

    return solve


def _decline_16_bits(xp: Any, x: Any) -> None:
    if x.dtype not in (xp.float32, xp.float64):
        raise Unsupported("the array API's linear algebra and Fourier transforms take float32 and float64")


def _reduce(name: str) -> Callable[..., Any]:
    """A reduction."""
    return lambda xp, x, *, dim, keepdim: getattr(xp, name)(x, axis=dim, keepdims=keepdim)


def _reduce_in_dtype(name: str) -> Callable[..., Any]:
    """A sum or product in the dtype of its tensor, for the standard has integers summed in wider ones."""
    return lambda xp, x, *, dim, keepdim: getattr(xp, name)(x, axis=dim, dtype=x.dtype, keepdims=keepdim)


def _scan(name: str) -> Callable[..., Any]:
    def scan(xp: Any, x: Any, *, dim: int) -> Any:
        return getattr(xp, name)(x, axis=dim, dtype=x.dtype)

    return scan


def _reduce_spread(name: str) -> Callable[..., Any]:
    return lambda xp, x, *, dim, correction, keepdim: getattr(xp, name)(
        x, axis=dim, correction=correction, keepdims=keepdim
    )


def _call_on_truth(name: str) -> Callable[..., Any]:
    """Of truth values, which the standard's take alone."""
    return lambda xp, *xs: getattr(xp, name)(*(x != 0 for x in xs))


def _pow(xp: Any, a: Any, b: Any = None, *, exponent: float | None) -> Any:
    return xp.pow(a, exponent if b is None else b)


def _sort(xp: Any, x: Any, *, dim: int, descending: bool) -> Any:
    return xp.sort(x, axis=dim, descending=descending), xp.argsort(x, axis=dim, descending=descending)


def _expand(xp: Any, x: Any, *, shape: tuple[int, ...]) -> Any:
    lead = len(shape) - x.ndim
    return xp.broadcast_to(x, tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)))


def _transpose(xp: Any, x: Any, *, dim0: int, dim1: int) -> Any:
    axes = list(range(x.ndim))
    axes[dim0], axes[dim1] = axes[dim1], axes[dim0]
    return xp.permute_dims(x, tuple(axes))


def _slice(xp: Any, x: Any, *, dim: int, start: int, end: int | None, step: int) -> Any:
    del xp
    first, last, _ = slice(start, end).indices(x.shape[dim])
    return x[(*(slice(None),) * (dim % x.ndim), slice(first, max(first, last), step), ...)]


def _cast(xp: Any, x: Any, *, to: str) -> Any:
    return xp.astype(xp.astype(x, getattr(xp, DTYPES[to].numpy.name)), x.dtype)


def _linspace(xp: Any, start: Any, end: Any, *, steps: int) -> Any:
    if start.ndim:
        raise Unsupported("the array API's linspace takes numbers")
    return xp.linspace(float(start), float(end), steps, dtype=start.dtype)


def _argwhere(xp: Any, x: Any, *, size: int, fill_value: int) -> Any:
    """`nonzero`, cut and filled to the rows that are asked for."""
    found = xp.stack(xp.nonzero(x), axis=-1)
    kept = min(size, found.shape[0])
    return xp.concat([found[:kept, ...], xp.full((size - kept, x.ndim), fill_value, dtype=found.dtype)])


def _unique(xp: Any, x: Any, *, size: int, fill_value: float) -> Any:
    """`unique_all`, cut and filled to the values that are asked for."""
    values, _, inverse, counts = xp.unique_all(x)
    kept = min(size, values.shape[0])
    return (
        xp.concat([values[:kept], xp.full((size - kept,), fill_value, dtype=x.dtype)]),
        inverse,
        xp.concat([counts[:kept], xp.zeros((size - kept,), dtype=counts.dtype)]),
    )


def _searchsorted(xp: Any, sorted: Any, values: Any, *, right: bool) -> Any:  # noqa: A002
    if sorted.ndim != 1:
        raise Unsupported("the array API's searchsorted takes one row")
    return xp.searchsorted(sorted, values, side="right" if right else "left")


def _outer_product(xp: Any, a: Any, b: Any) -> Any:
    if a.ndim != 1 or b.ndim != 1:
        raise Unsupported("the array API's outer takes vectors")
    return xp.linalg.outer(a, b)


def _diag(xp: Any, x: Any, *, diagonal: int) -> Any:
    if x.ndim != 2:
        raise Unsupported("the array API makes no matrix of a diagonal")
    return xp.linalg.diagonal(x, offset=diagonal)


def _solve(xp: Any, a: Any, b: Any, *, left: bool) -> Any:
    if not left:
        raise Unsupported("the array API's solve has its matrix on the left")
    return _call_in_wide("solve")(xp, a, b)


def _norm(xp: Any, x: Any, *, p: float, dim: Any, keepdim: bool) -> Any:
    return xp.linalg.vector_norm(x, axis=dim, keepdims=keepdim, ord=p)


# Fourier transforms: complex numbers come and go as two planes


def _join_planes(xp: Any, re: Any, im: Any) -> Any:
    """The complex tensor of two planes, bit for bit: 1j times an infinity would be no number."""
    from opproof.backends.array_api import to_array

    _decline_16_bits(xp, re)
    planes = to_array(re), to_array(im)
    assert planes[0] is not None
    joined = np.empty(planes[0].shape, np.result_type(planes[0].dtype, np.complex64))
    joined.real, joined.imag = planes  # type: ignore[assignment]
    return xp.asarray(joined)


def _planes_of(xp: Any, y: Any) -> Any:
    return xp.real(y), xp.imag(y)


def _fft(xp: Any, re: Any, im: Any, *, dim: int, norm: str, inverse: bool) -> Any:
    transform = xp.fft.ifft if inverse else xp.fft.fft
    return _planes_of(xp, transform(_join_planes(xp, re, im), axis=dim, norm=norm))


def _fftn(xp: Any, re: Any, im: Any, *, dim: Any, norm: str, inverse: bool) -> Any:
    transform = xp.fft.ifftn if inverse else xp.fft.fftn
    return _planes_of(xp, transform(_join_planes(xp, re, im), axes=_list_dims(dim), norm=norm))


def _list_dims(dim: Any) -> Any:
    return (dim,) if isinstance(dim, int) else dim


def _rfft(xp: Any, x: Any, *, dim: int, norm: str) -> Any:
    _decline_16_bits(xp, x)
    return _planes_of(xp, xp.fft.rfft(x, axis=dim, norm=norm))


def _rfftn(xp: Any, x: Any, *, dim: Any, norm: str) -> Any:
    _decline_16_bits(xp, x)
    return _planes_of(xp, xp.fft.rfftn(x, axes=_list_dims(dim), norm=norm))


def _irfftn(xp: Any, re: Any, im: Any, *, n: int | None, dim: Any, norm: str) -> Any:
    axes = tuple(range(re.ndim)) if dim is None else _list_dims(dim)
    sizes = None if n is None else (*(re.shape[axis] for axis in axes[:-1]), n)
    return xp.fft.irfftn(_join_planes(xp, re, im), s=sizes, axes=axes, norm=norm)


def _fftfreq(xp: Any, *, n: int, d: float, onesided: bool) -> Any:
    return (xp.fft.rfftfreq if onesided else xp.fft.fftfreq)(n, d=d, dtype=xp.float32)


TABLE: dict[str, Callable[..., Any]] = {
    **{name: _call_directly(name) for name in ALIKE},
    **{op: _call_directly(name) for op, name in NAMES.items()},
    # Elements
    "clamp": lambda xp, x, *, min, max: xp.clip(x, min, max),
    "pow": _pow,
    "where": lambda xp, condition, a, b: xp.where(condition != 0, a, b),
    "logical_and": _call_on_truth("logical_and"),
    "logical_or": _call_on_truth("logical_or"),
    "logical_not": _call_on_truth("logical_not"),
    "isin": lambda xp, elements, tests, *, invert: xp.isin(elements, tests, invert=invert),
    "cast": _cast,
    # Reductions and scans
    "sum": _reduce_in_dtype("sum"),
    "prod": _reduce_in_dtype("prod"),
    "mean": _reduce("mean"),
    "amax": _reduce("max"),
    "amin": _reduce("min"),
    "all": _reduce("all"),
    "any": _reduce("any"),
    "argmax": _reduce("argmax"),
    "argmin": _reduce("argmin"),
    "var": _reduce_spread("var"),
    "std": _reduce_spread("std"),
    "count_nonzero": lambda xp, x, *, dim: xp.count_nonzero(x, axis=dim),
    "cumsum": _scan("cumulative_sum"),
    "cumprod": _scan("cumulative_prod"),
    "diff": lambda xp, x, *, n, dim: xp.diff(x, axis=dim, n=n),
    # Order
    "sort": _sort,
    "argsort": lambda xp, x, *, dim, descending: xp.argsort(x, axis=dim, descending=descending),
    "argwhere": _argwhere,
    "unique": _unique,
    "searchsorted": _searchsorted,
    # Moves
    "contiguous": lambda xp, x: xp.asarray(x, copy=True),
    "reshape": lambda xp, x, *, shape: xp.reshape(x, tuple(shape)),
    "expand": _expand,
    "permute": lambda xp, x, *, dims: xp.permute_dims(x, tuple(dims)),
    "transpose": _transpose,
    "concat": lambda xp, *xs, dim: xp.concat(list(xs), axis=dim),
    "stack": lambda xp, *xs, dim: xp.stack(list(xs), axis=dim),
    "flip": lambda xp, x, *, dims: xp.flip(x, axis=dims),
    "roll": lambda xp, x, *, shifts, dims: xp.roll(x, shifts, axis=dims),
    "repeat": lambda xp, x, *, repeats: xp.tile(x, tuple(repeats)),
    "repeat_interleave": lambda xp, x, *, repeats, dim: xp.repeat(x, repeats, axis=dim),
    "slice": _slice,
    "index_select": lambda xp, x, index, *, dim: xp.take(x, index, axis=dim),
    "take_along_dim": lambda xp, x, indices, *, dim: xp.take_along_axis(x, indices, axis=dim),
    "tril": lambda xp, x, *, diagonal: xp.tril(x, k=diagonal),
    "triu": lambda xp, x, *, diagonal: xp.triu(x, k=diagonal),
    # Made of nothing
    "arange": lambda xp, *, start, end, step: xp.arange(start, end, step, dtype=xp.float32),
    "eye": lambda xp, *, n, m, k: xp.eye(n, m, k=k, dtype=xp.float32),
    "fill": lambda xp, x, *, value: xp.full_like(x, value),
    "linspace": _linspace,
    # Linear algebra
    "tensordot": lambda xp, a, b, *, axes: xp.tensordot(a, b, axes=axes),
    "outer_product": _outer_product,
    "cholesky": _call_in_wide("cholesky"),
    "cross": _call_linalg("cross", dim="axis"),
    "det": _call_in_wide("det"),
    "diag": _diag,
    "inverse": _call_in_wide("inv"),
    "matrix_power": lambda xp, x, *, n: xp.linalg.matrix_power(x, n),
    "norm": _norm,
    "slogdet": _call_in_wide("slogdet"),
    "solve": _solve,
    "trace": _call_linalg("trace", offset="offset"),
    # Fourier transforms
    "fft": _fft,
    "fftn": _fftn,
    "rfft": _rfft,
    "rfftn": _rfftn,
    "irfft": lambda xp, re, im, *, n, dim, norm: xp.fft.irfft(_join_planes(xp, re, im), n=n, axis=dim, norm=norm),
    "irfftn": _irfftn,
    "fftfreq": _fftfreq,
}
