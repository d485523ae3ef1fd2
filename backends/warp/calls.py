"""From an operator's inputs and parameters to one launch of a Warp kernel: which elements meet, by their places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.backends.protocol import Unsupported
from opproof.backends.warp.functions import ADDS, POINTWISE, READS
from opproof.core.arrays import Array

OPERATORS = frozenset((*POINTWISE, *READS, *ADDS))


@dataclass(frozen=True)
class Launch:
    """One launch: the operands and, for each, the places read or added to; the result's shape."""

    kernel: str
    tensors: list[Array]
    places: list[int]  # of the tensors among the inputs
    at: list[Array]
    shape: tuple[int, ...]
    size: int
    scalars: tuple[float, ...] = ()
    test: bool = False
    fill: float | None = None  # what an atomic begins with
    begins_with: int | None = None  # the input that it begins with, last of the tensors


def call(op: str, inputs: Sequence[Array], params: Mapping[str, Any]) -> Launch:
    """The launch for `op`. Raises Unsupported for parameters that Warp's builtin has not."""
    if op in POINTWISE:
        return _make_pointwise(op, inputs, params)
    return _make_read(op, inputs, params) if op in READS else _make_add(op, inputs, params)


def _number_elements(shape: tuple[int, ...]) -> Array:
    """The place of each element in an array of this shape laid out row by row."""
    return np.arange(math.prod(shape)).reshape(shape)


def _indices_of(index: Array, dim: int) -> tuple[Array, ...]:
    """Indices of all axes: `index` for `dim`, their own for the others."""
    own: tuple[Array, ...] = np.indices(index.shape, sparse=True)
    return tuple(index if d == dim else g for d, g in enumerate(own))


def _make_pointwise(op: str, inputs: Sequence[Array], params: Mapping[str, Any]) -> Launch:
    entry = POINTWISE[op]
    if len(inputs) != entry.tensors:
        raise Unsupported("wp.pow takes two tensors")
    scalars = tuple(params[name] for name in entry.params)
    if any(s is None for s in scalars):
        raise Unsupported("wp.clamp wants both bounds")
    shape = np.broadcast_shapes(*(x.shape for x in inputs))
    at = [np.broadcast_to(_number_elements(x.shape), shape).ravel() for x in inputs]
    places = list(range(len(inputs)))
    return Launch(op, list(inputs), places, at, shape, math.prod(shape), scalars, entry.test)


def _make_read(op: str, inputs: Sequence[Array], params: Mapping[str, Any]) -> Launch:
    if params.get("padding_idx") is not None:
        raise Unsupported("a copy of rows has no padding_idx")
    x, own = inputs[0], _number_elements(inputs[0].shape)
    if op == "expand":
        lead = len(params["shape"]) - x.ndim
        at = np.broadcast_to(own, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(params["shape"])])
    elif op == "gather":
        index, dim = inputs[1], params["dim"] % x.ndim
        at = own[_indices_of(index, dim)]
    elif op == "repeat":
        at = np.tile(own, params["repeats"])
    elif op == "repeat_interleave":
        at = np.repeat(own, params["repeats"], params["dim"])
    elif op == "permute":
        at = np.transpose(own, params["dims"])
    elif op == "flip":
        at = np.flip(own, params["dims"])
    else:
        at = np.take(own, inputs[1], axis=params.get("dim", 0))
    return Launch("read", [x], [0], [at.ravel()], at.shape, at.size)


def _make_add(op: str, inputs: Sequence[Array], params: Mapping[str, Any]) -> Launch:
    if op in ("index_add", "scatter_add"):
        x, index, source = inputs
        if params.get("alpha", 1) != 1:
            raise Unsupported("wp.atomic_add has no factor")
        dim, own = params["dim"] % x.ndim, _number_elements(x.shape)
        if op == "index_add":
            at = np.take(own, index, axis=dim)
        else:
            at = own[_indices_of(index, dim)]
            source = source[tuple(slice(n) for n in index.shape)]
        if source.shape != inputs[2].shape:
            raise Unsupported("sources larger than their indices are cut by the caller")
        return Launch("atomic_add", [source, x], [2, 0], [at.ravel()], x.shape, at.size, begins_with=0)
    (x,) = inputs
    dims = _to_dims(params["dim"], x.ndim)
    kept = tuple(1 if d in dims else n for d, n in enumerate(x.shape))
    at = np.broadcast_to(_number_elements(kept), x.shape).ravel()
    shape = kept if params["keepdim"] else tuple(n for d, n in enumerate(x.shape) if d not in dims)
    fill = {"sum": 0.0, "amax": -math.inf, "amin": math.inf}[op]
    return Launch(ADDS[op], [x], [0], [at], shape, x.size, fill=fill)


def _to_dims(dim: Any, rank: int) -> set[int]:
    if dim is None:
        return set(range(rank))
    return {d % rank if rank else 0 for d in ((dim,) if isinstance(dim, int) else dim)}
