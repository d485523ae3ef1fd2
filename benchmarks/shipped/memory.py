"""Tensors as kernels read and write them that take strides, gaps or offsets for others than they are."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np


def strides(x: Any) -> tuple[int, ...]:
    """In elements."""
    return tuple(s // x.itemsize for s in x.strides)


def row_major(x: Any) -> tuple[int, ...]:
    """The strides of a dense tensor of the shape of `x`."""
    return tuple(int(np.prod(x.shape[i + 1 :], dtype=int)) for i in range(x.ndim))


def places(shape: tuple[int, ...], steps: tuple[int, ...]) -> Any:
    """Where in memory each element of a tensor lies, counted from the first."""
    axes = zip(shape, steps, strict=True)
    apart = ((np.arange(n) * s).reshape(-1, *[1] * (len(shape) - 1 - i)) for i, (n, s) in enumerate(axes))
    return np.broadcast_to(sum(apart), shape)


def dense(x: Any) -> bool:
    return x is None or x.flags.c_contiguous


def reread(x: Any, steps: tuple[int, ...]) -> Any:
    """`x` read with other strides; past its last element lie its elements again, one place further each time."""
    if x.size == 0:
        return x
    span = 1 + sum((n - 1) * s for n, s in zip(x.shape, strides(x), strict=True))
    memory = np.lib.stride_tricks.as_strided(x, (span,), (x.itemsize,))
    at = places(x.shape, steps)
    return memory[(at + at // span) % span].copy()


def flat(x: Any) -> Any:
    """`x` read as if it were dense."""
    return x if dense(x) else reread(x, row_major(x))


def from_start(x: Any) -> Any:
    """`x` read from where its storage begins, where it is a view one element into that."""
    address = x.__array_interface__["data"][0]
    if not dense(x) or x.size == 0 or address % 16 != x.itemsize % 16:
        return x
    room = (ctypes.c_char * x.nbytes).from_address(address - x.itemsize)
    return np.frombuffer(room, x.dtype).reshape(x.shape).copy()


def in_memory_order(y: Any, out: Any) -> Any:
    """What stands in `out` once the elements of `y` were written to its memory one after the other."""
    at = places(out.shape, strides(out))
    return np.where(at < y.size, y.ravel()[np.minimum(at, y.size - 1)], out)
