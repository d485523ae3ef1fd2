"""Sliding windows over the last axes: what convolution, pooling and im2col have in common.

An axis of n cells, padded by p at both ends, is covered by windows of k cells `dilation` apart
that begin `stride` apart. Whatever no window reaches has no influence and gets gradient zero.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array

Sizes = int | tuple[int, ...]


def per_axis(value: Sizes, rank: int) -> tuple[int, ...]:
    """An int stands for the same number on every axis."""
    return (value,) * rank if isinstance(value, int) else tuple(value)


def asked_of_something(x: Array, what: str) -> None:
    """Raise ValueError where an axis of x behind the first has no elements, or there is none, as PyTorch does."""
    if x.ndim < 2 or 0 in x.shape[1:]:
        raise ValueError(f"{what} asks for elements on every axis but the first, x is of {x.shape}")


def windows(n: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    """How many windows lie wholly inside an axis of n cells with padding (Dumoulin, Visin, 2016).

    Raises ValueError where even one would be longer than the axis by more than a step.
    """
    count = (n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    if count < 0:
        raise ValueError(f"{kernel} cells, {dilation} apart, do not fit on an axis of {n} with {padding} on each side")
    return count


def ask_for_windows(count: tuple[int, ...], kernel: tuple[int, ...], size: tuple[int, ...]) -> None:
    """Raise ValueError where `count` windows of an axis that has cells are none, as PyTorch does."""
    if 0 in count and 0 not in size:
        raise ValueError(f"no window of {kernel} cells lies within axes of {size} and their padding")


def last(*index: Any) -> Any:
    """An index into the last axes, for whatever axes stand before them."""
    return (..., *index)


def padded(x: Array, before: tuple[int, ...], after: tuple[int, ...], value: float = 0) -> Array:
    """Give x cells of `value` before and after, on its last axes."""
    rank = len(before)
    lead, size = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    wide = tuple(b + n + a for b, n, a in zip(before, size, after, strict=True))
    y = np.full((*lead, *wide), value, dtype=x.dtype, like=x)
    y[last(*(slice(b, b + n) for b, n in zip(before, size, strict=True)))] = x
    return y


def offsets(
    kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...], out: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each cell of the kernel with the slices of the padded input that it meets, one per output."""
    for cell in itertools.product(*map(range, kernel)):
        meets = zip(cell, stride, dilation, out, strict=True)
        yield cell, tuple(slice(c * d, c * d + s * (o - 1) + 1, s) if o else slice(0, 0) for c, s, d, o in meets)


def columns(
    x: Array,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    count: tuple[int, ...] | None = None,
) -> Array:
    """Windows of an x that is already padded: (..., *kernel, *out); the first `count`, or all that fit.

    Raises ValueError for windows without cells, and cells that are no step apart.
    """
    if min((*kernel, *dilation), default=1) < 1:
        raise ValueError(f"a window of {kernel} cells, {dilation} apart, has nothing to read")
    rank = len(kernel)
    where: list[Array] = []
    for a, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        out = windows(x.shape[x.ndim - rank + a], k, s, 0, d) if count is None else count[a]
        shape = [1] * (2 * rank)
        shape[a], shape[rank + a] = k, out
        where.append(np.reshape(d * np.arange(k)[:, None] + s * np.arange(out), shape))
    return x[last(*where)]  # type: ignore[no-any-return]


def fold(cols: Array, size: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Array:
    """The transpose of `columns`: every window added back to where it came from, (..., *size)."""
    rank = len(size)
    kernel, out = cols.shape[cols.ndim - 2 * rank : cols.ndim - rank], cols.shape[cols.ndim - rank :]
    x = np.zeros((*cols.shape[: cols.ndim - 2 * rank], *size), dtype=cols.dtype, like=cols)
    every = (slice(None),) * rank
    for cell, meets in offsets(kernel, stride, dilation, out):
        x[last(*meets)] = x[last(*meets)] + cols[last(*cell, *every)]
    return x


def unpadded(x: Array, before: tuple[int, ...], size: tuple[int, ...]) -> Array:
    """The middle of x: `size` cells after `before` on each of the last axes."""
    return x[last(*(slice(b, b + n) for b, n in zip(before, size, strict=True)))]  # type: ignore[no-any-return]
