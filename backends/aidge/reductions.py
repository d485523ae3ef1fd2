"""aidge's operators by ours: reductions. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aidge_core as aidge
import numpy as np

from opproof.backends.aidge.run import NodeCall, call
from opproof.backends.protocol import Unsupported
from opproof.core.arrays import Array

Dim = int | tuple[int, ...] | None


def _axes_and_shape_of(x: Array, dim: Dim, *, keepdim: bool) -> tuple[list[int], tuple[int, ...] | None]:
    """The axes, and () for the answer where none is left: aidge keeps one."""
    dims = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    axes = [d % x.ndim for d in dims] if x.ndim else []
    return axes, () if len(axes) == x.ndim and not keepdim else None


def _reduce(node: Callable[..., Any], *, boolean: bool = False) -> Callable[..., NodeCall]:
    def reduce(x: Array, *, dim: Dim, keepdim: bool) -> NodeCall:
        axes, shape = _axes_and_shape_of(x, dim, keepdim=keepdim)
        if not axes:
            raise Unsupported("aidge's reductions over no axis are over all")
        return call(node(axes, keepdim), x != 0 if boolean else x, shape=shape)

    return reduce


def _norm(x: Array, *, p: float, dim: Dim, keepdim: bool) -> NodeCall:
    """The axes are fed: those that ReduceL1 and ReduceL2 are made with have none (docs/reference/backends/aidge.md)."""
    norms = {1: aidge.ReduceL1, 2: aidge.ReduceL2}
    axes, shape = _axes_and_shape_of(x, dim, keepdim=keepdim)
    if p not in norms or not axes:
        raise Unsupported("aidge has the norms of p = 1 and 2, over axes")
    return call(norms[int(p)]([], keepdim, False), x, constants=(np.array(axes),), shape=shape)


def _argmax(x: Array, *, dim: int | None, keepdim: bool) -> NodeCall:
    if dim is None and x.ndim != 1:
        raise Unsupported("aidge's ArgMax is along an axis")
    axes, shape = _axes_and_shape_of(x, dim, keepdim=keepdim)
    return call(aidge.ArgMax(axes[0], keepdim), x, shape=shape)


TABLE: dict[str, Callable[..., NodeCall]] = {
    "all": _reduce(aidge.ReduceMin, boolean=True),
    "any": _reduce(aidge.ReduceMax, boolean=True),
    "amax": _reduce(aidge.ReduceMax),
    "amin": _reduce(aidge.ReduceMin),
    "mean": _reduce(aidge.ReduceMean),
    "sum": _reduce(aidge.ReduceSum),
    "norm": _norm,
    "argmax": _argmax,
}
