"""Axes of reductions: `dim` is one axis, several, or None for all, as in PyTorch."""

import math
from collections.abc import Mapping

import numpy as np

from opproof.core.arrays import Array

Dim = int | tuple[int, ...] | None


def axes(dim: Dim, rank: int) -> tuple[int, ...]:
    """The axes that `dim` names, counted from the front. Raises ValueError where there is none of a number.

    A tensor without axes has those that PyTorch lets name, its last and its first: 0 and -1.
    """
    named = tuple(range(rank)) if dim is None else (dim,) if isinstance(dim, int) else dim
    if any(not -max(rank, 1) <= a < max(rank, 1) for a in named):
        raise ValueError(f"dim={dim} names axes that a tensor of {rank} has not")
    return tuple(a % rank if rank else 0 for a in named) if rank else ()


def count(x: Array, dim: Dim) -> int:
    """How many elements of x are reduced into one."""
    return math.prod(x.shape[a] for a in axes(dim, x.ndim))


def ask_for_freedom(x: Array, dim: Dim, correction: int) -> None:
    """Raise ValueError where a variance has no degree of freedom left, but for the usual correction, 1: that is NaN."""
    if count(x, dim) <= correction and correction > 1:
        raise ValueError(f"of {count(x, dim)} numbers correction={correction} leaves no degree of freedom")


def left(shapes: Mapping[str, tuple[int, ...]], dim: Dim, keepdim: bool) -> list[dict[str, int]]:
    """Axes of x that a reduction over `dim` leaves, and where they are in y: its slices there are independent."""
    rank = len(shapes["x"])
    rest = [a - rank for a in range(rank) if a not in axes(dim, rank)]
    return [{"x": a, "y": a if keepdim else -len([b for b in rest if b >= a])} for a in rest]


def unbounded(x: Array, dim: Dim, keepdim: bool = False) -> Array:
    """Where the elements that are reduced hold an infinity and no NaN: what a moment is there depends on its formula.

    In two passes, and shifted, a variance is inf - inf; merged from those of parts (Chan) it is inf. A mean is inf by
    its sum, and NaN where it is moved by every element's distance from it (Welford).
    """
    return np.any(np.isinf(x), axis=dim, keepdims=keepdim) & ~np.any(np.isnan(x), axis=dim, keepdims=keepdim)  # type: ignore[no-any-return]


def unbounded_above(x: Array, dim: Dim) -> Array:
    """Rows, their axes kept at size 1, that hold inf and no NaN."""
    return np.any(x == np.inf, axis=dim, keepdims=True) & ~np.any(np.isnan(x), axis=dim, keepdims=True)  # type: ignore[no-any-return]


def largest(x: Array, dim: int) -> Array:
    """The largest real part along an axis that is kept at size 1; of no elements 0, which nothing is moved by."""
    if x.size:
        return np.max(np.real(x), axis=dim, keepdims=True)  # type: ignore[no-any-return]
    return np.sum(np.real(x), axis=dim, keepdims=True)  # type: ignore[no-any-return]


def mean_of(x: Array, dim: Dim, keepdims: bool = False) -> Array:
    """The mean; of a tensor without axes, whose last axis and first PyTorch lets name, the number itself."""
    return np.mean(x, axis=dim if x.ndim else None, keepdims=keepdims)  # type: ignore[no-any-return]


def kept(reduced: Array, x: Array, dim: Dim) -> Array:
    """A reduction of x over `dim` with its axes put back at size 1, kept or not."""
    gone = axes(dim, x.ndim)
    return np.reshape(reduced, tuple(1 if a in gone else n for a, n in enumerate(x.shape)))
