"""Windows of pooling, which may hang over the far end (ceil_mode), and pooling of any rank over them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._windows import (
    Sizes,
    asked_of_something,
    columns,
    fold,
    last,
    offsets,
    padded,
    per_axis,
    unpadded,
)


@dataclass(frozen=True)
class Pool:
    """How the windows lie, one number per axis; `far` is the padding at the far end, `after` that and overhang."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    far: tuple[int, ...]
    dilation: tuple[int, ...]
    out: tuple[int, ...]
    after: tuple[int, ...]


def sides(padding: Sizes, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Padding before and after each axis: of one number, one an axis, or two an axis, all those before x first."""
    if isinstance(padding, int) or len(padding) == rank:
        return per_axis(padding, rank), per_axis(padding, rank)
    return tuple(padding[:rank]), tuple(padding[rank:])


def _outputs(n: int, reach: int, stride: int, before: int, far: int, ceil_mode: bool) -> int:
    """Windows on an axis: with ceil_mode one more may hang over, if it begins on x or the padding before it."""
    whole, rest = divmod(n + before + far - reach, stride)
    if whole < 0:
        raise ValueError(f"a window of {reach} cells does not fit on {n}, with {before} before and {far} behind them")
    more = ceil_mode and rest > 0 and (whole + 1) * stride < n + before
    return whole + 1 + int(more)


def pool(
    size: tuple[int, ...],
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    ceil_mode: bool,
    dilation: Sizes = 1,
) -> Pool:
    """Parameters as PyTorch takes them: stride None is the kernel's size; but padding may differ by `sides`."""
    if not size or 0 in size:
        raise ValueError(f"pooling asks for elements on the last axes, they are {size}")
    rank = len(size)
    kernel, dils = per_axis(kernel_size, rank), per_axis(dilation, rank)
    pads, far = sides(padding, rank)
    strides = kernel if stride is None else per_axis(stride, rank)
    reach = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dils, strict=True))
    if any(max(p, f) >= r for p, f, r in zip(pads, far, reach, strict=True)):
        raise ValueError(f"windows of {reach} cells would lie wholly on padding of {pads} before and {far} behind")
    out = tuple(_outputs(*v, ceil_mode) for v in zip(size, reach, strides, pads, far, strict=True))
    ends = zip(size, out, strides, reach, pads, far, strict=True)
    after = tuple(max(f, (o - 1) * s + r - n - p) for n, o, s, r, p, f in ends)
    return Pool(kernel, strides, pads, far, dils, out, after)


def max_pool(x: Array, how: Pool) -> tuple[Array, Array]:
    """The largest element of every window, and its flat position in the plane of x; the first among ties, and NaN."""
    asked_of_something(x, "pooling")
    ask_for_cells(x.shape[x.ndim - len(how.kernel) :], how)
    return _at(x, how, _winners(x, how))


def ask_for_cells(size: tuple[int, ...], how: Pool) -> None:
    """Raise ValueError where a window meets padding alone, of which nothing is the largest."""
    for n, k, s, p, d, o in zip(size, how.kernel, how.stride, how.padding, how.dilation, how.out, strict=True):
        cell = s * np.arange(o)[:, None] - p + d * np.arange(k)
        if not np.all(np.any((cell >= 0) & (cell < n), axis=1)):
            raise ValueError(f"a window of {k} cells, {d} apart, meets none of {n} with {p} before them")


def max_pools_with_nan(x: Array, how: Pool) -> Iterator[tuple[Array, Array]]:
    """What else is made of NaN: the last of several is meant; or they are left out, and -inf or NaN is left of all."""
    nan, axis = np.isnan(x), -len(how.kernel) - 1
    y, first = max_pool(x, how)
    backward = np.flip(_cells(nan.astype(x.dtype), how, 0), axis=axis)
    last = math.prod(how.kernel) - 1 - np.argmax(backward, axis=axis)
    yield y, np.where(np.isnan(y), _at(x, how, last)[1], first)
    others, places = max_pool(np.where(nan, -math.inf, x), how)
    yield others, places
    yield np.where(np.all(_cells(nan.astype(x.dtype), how, 1) != 0, axis=axis), math.nan, others), places


def _winners(x: Array, how: Pool) -> Array:
    """Which cell of every window wins: NaN, else the largest, never one of the padding."""
    cells, axis = _cells(x, how, -math.inf), -len(how.kernel) - 1
    best = (cells == np.max(cells, axis=axis, keepdims=True)) | np.isnan(cells)
    return np.argmax(best & (_cells(np.ones_like(x), how, 0) != 0), axis=axis)  # type: ignore[no-any-return]


def _at(x: Array, how: Pool, first: Array) -> tuple[Array, Array]:
    """The cells `first` of every window, and their flat positions in the plane of x."""
    cells, size = _cells(x, how, -math.inf), x.shape[x.ndim - len(how.kernel) :]
    rank = len(how.kernel)
    y = np.take_along_axis(cells, np.expand_dims(first, -rank - 1), axis=-rank - 1)
    flat, rest, inside = np.zeros_like(first), first, []
    for k in reversed(how.kernel):  # np.unravel_index is wrong past 8192 elements of several axes (NumPy 2.4.6)
        rest, cell = np.divmod(rest, k)
        inside.append(cell)
    for a, (n, cell) in enumerate(zip(size, reversed(inside), strict=True)):
        start = np.reshape(how.stride[a] * np.arange(how.out[a]) - how.padding[a], (-1, *(1,) * (rank - 1 - a)))
        flat = flat * n + start + how.dilation[a] * cell
    return np.squeeze(y, axis=-rank - 1), flat


def max_pool_vjp(g: Array, x: Array, how: Pool) -> Array:
    """G sent to the element that won each window."""
    rank = len(how.kernel)
    first = np.expand_dims(_winners(x, how), -rank - 1)
    number = np.reshape(np.arange(math.prod(how.kernel)), (-1, *(1,) * rank))
    return _spread(np.where(number == first, np.expand_dims(g, -rank - 1), 0), x, how)


def max_pool_kinks(x: Array, how: Pool) -> Array:
    """Distance to the nearest tie: a winner's gap to the runner-up, others' to the winner."""
    cells, rank = _cells(x, how, -math.inf), len(how.kernel)
    axis = -rank - 1
    top = np.max(cells, axis=axis, keepdims=True)
    runner_up = np.max(np.where(cells == top, -np.inf, cells), axis=axis, keepdims=True)
    tied = np.sum(cells == top, axis=axis, keepdims=True) > 1
    gaps = np.where(cells == top, np.where(tied, 0, top - runner_up), top - cells)
    gaps = np.reshape(gaps, (*gaps.shape[: gaps.ndim + axis], *how.kernel, *how.out))
    size = x.shape[x.ndim - rank :]
    wide = tuple(b + n + a for b, n, a in zip(how.padding, size, how.after, strict=True))
    least = np.full((*x.shape[: x.ndim - rank], *wide), np.inf)
    for cell, meets in offsets(how.kernel, how.stride, how.dilation, how.out):
        least[last(*meets)] = np.minimum(least[last(*meets)], gaps[last(*cell, *(slice(None),) * rank)])
    return unpadded(least, how.padding, size)


def divisors(size: tuple[int, ...], how: Pool, count_include_pad: bool, divisor_override: int | None) -> Array:
    """What each window's sum is divided by: its cells on x, or on x and its padding, never those that hang over."""
    if divisor_override is not None:
        return np.full(how.out, divisor_override)
    counts = np.ones(())
    for n, o, k, s, p, far in zip(size, how.out, how.kernel, how.stride, how.padding, how.far, strict=True):
        first = s * np.arange(o) - p
        end = np.minimum(first + k, n + far)
        inside = end - first if count_include_pad else np.minimum(end, n) - np.maximum(first, 0)
        counts = counts[..., None] * inside
    return counts


def avg_pool(x: Array, how: Pool, divisor: Array) -> Array:
    """The sum of every window over its divisor."""
    asked_of_something(x, "pooling")
    return np.sum(_cells(x, how, 0), axis=-len(how.kernel) - 1) / divisor.astype(x.dtype)  # type: ignore[no-any-return]


def avg_pool_vjp(g: Array, x: Array, how: Pool, divisor: Array) -> Array:
    """Each window's share of g to all its cells."""
    rank = len(how.kernel)
    share = np.expand_dims(g / divisor.astype(g.dtype), -rank - 1)
    shape = (*x.shape[: x.ndim - rank], math.prod(how.kernel), *how.out)
    return _spread(np.broadcast_to(share, shape), x, how)


def _cells(x: Array, how: Pool, value: float) -> Array:
    """The cells of every window on one axis before the windows: (..., cells, *out)."""
    cols = columns(padded(x, how.padding, how.after, value), how.kernel, how.stride, how.dilation, how.out)
    lead = x.shape[: x.ndim - len(how.kernel)]
    return np.reshape(cols, (*lead, math.prod(how.kernel), *how.out))


def _spread(cells: Array, x: Array, how: Pool) -> Array:
    """The transpose of `_cells`."""
    rank = len(how.kernel)
    size = x.shape[x.ndim - rank :]
    wide = tuple(b + n + a for b, n, a in zip(how.padding, size, how.after, strict=True))
    cols = np.reshape(cells, (*x.shape[: x.ndim - rank], *how.kernel, *how.out))
    return unpadded(fold(cols, wide, how.stride, how.dilation), how.padding, size)
