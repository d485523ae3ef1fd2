"""aidge's operators by ours: what moves and picks. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable

import aidge_core as aidge
import numpy as np

from opproof.backends.aidge.run import NodeCall, call
from opproof.backends.protocol import Unsupported
from opproof.backends.table import decline_params
from opproof.core.arrays import Array


def _concat(*xs: Array, dim: int) -> NodeCall:
    return call(aidge.Concat(len(xs), dim % xs[0].ndim), *xs)


def _split(x: Array, *, sizes: tuple[int, ...], dim: int) -> NodeCall:
    return call(aidge.Split(len(sizes), dim % x.ndim, list(sizes)), x, outputs=tuple(range(len(sizes))))


def _slice(x: Array, *, dim: int, start: int, end: int | None, step: int) -> NodeCall:
    dim %= x.ndim
    return call(aidge.Slice([start], [x.shape[dim] if end is None else end], [dim], [step]), x)


def _transpose(x: Array, *, dim0: int, dim1: int) -> NodeCall:
    order = list(range(x.ndim))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return call(aidge.Transpose(order), x)


def _permute(x: Array, *, dims: tuple[int, ...]) -> NodeCall:
    return call(aidge.Transpose([d % x.ndim for d in dims]), x)


def _reshape(x: Array, *, shape: tuple[int, ...]) -> NodeCall:
    if not shape:
        raise Unsupported("aidge's Reshape takes an empty shape for none given")
    return call(aidge.Reshape(list(shape)), x)


def _expand(x: Array, *, shape: tuple[int, ...]) -> NodeCall:
    lead = len(shape) - x.ndim
    full = [x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)]
    return call(aidge.Expand(), x, constants=(np.array(full),))


def _repeat(x: Array, *, repeats: tuple[int, ...]) -> NodeCall:
    """Tile wants as many repeats as axes, so x gets the axes that it lacks."""
    wide = x.reshape((1,) * (len(repeats) - x.ndim) + x.shape)
    return call(aidge.Tile(), wide, constants=(np.array(repeats),))


def _pad(x: Array, *, pad: tuple[int, ...], mode: str, value: float | None) -> NodeCall:
    modes = {
        "constant": aidge.PaddingMode.CONSTANT,
        "reflect": aidge.PaddingMode.REFLECT,
        "replicate": aidge.PaddingMode.EDGE,
        "circular": aidge.PaddingMode.WRAP,
    }
    untouched = [0] * (x.ndim - len(pad) // 2)
    pads = [*untouched, *pad[::2][::-1], *untouched, *pad[1::2][::-1]]
    filler = 0.0 if value is None else value
    both = min(pads, default=0) < 0 < max(pads, default=0)  # then the backward may write past its memory
    return call(aidge.Pad(pads, mode=modes[mode], constant_value=filler), x, damages=both)


def _gather(x: Array, index: Array, *, dim: int) -> NodeCall:
    return call(aidge.GatherElements(dim % x.ndim), x, index)


def _take_along_dim(x: Array, indices: Array, *, dim: int) -> NodeCall:
    dim %= x.ndim
    if any(m != n for d, (m, n) in enumerate(zip(x.shape, indices.shape, strict=True)) if d != dim):
        raise Unsupported("aidge's GatherElements does not broadcast")
    return call(aidge.GatherElements(dim), x, indices)


def _index_select(x: Array, index: Array, *, dim: int) -> NodeCall:
    return call(aidge.Gather(dim % x.ndim), x, index)


def _scatter(reduction: str) -> Callable[..., NodeCall]:
    return lambda x, index, src, *, dim: call(aidge.Scatter(dim % x.ndim, reduction), x, index, src)


def _triangle(*, upper: bool) -> Callable[..., NodeCall]:
    return lambda x, *, diagonal: call(aidge.Trilu(upper), x, constants=(np.array([diagonal]),))


def _pixel_shuffle(x: Array, *, upscale_factor: int) -> NodeCall:
    return call(aidge.DepthToSpace(upscale_factor, "CRD"), x)


def _arange(*, start: float, end: float, step: float) -> NodeCall:
    return call(aidge.Range(float(start), float(end), float(step)))


def _fill(x: Array, *, value: float) -> NodeCall:
    """From the shape of x alone."""
    if x.ndim == 0:
        raise Unsupported("aidge has no empty tensors, and the shape would be one")
    return NodeCall(aidge.ConstantOfShape(x.dtype.type(value)), (np.array(x.shape),), (None,))


TABLE: dict[str, Callable[..., NodeCall]] = {
    "concat": _concat,
    "split": _split,
    "slice": _slice,
    "transpose": _transpose,
    "permute": _permute,
    "reshape": _reshape,
    "expand": _expand,
    "repeat": _repeat,
    "pad": _pad,
    "gather": _gather,
    "take_along_dim": _take_along_dim,
    "index_select": _index_select,
    "embedding": decline_params("aidge", lambda weight, indices: call(aidge.Gather(0), weight, indices), "padding_idx"),
    "scatter": _scatter("none"),
    "scatter_add": _scatter("add"),
    "tril": _triangle(upper=False),
    "triu": _triangle(upper=True),
    "pixel_shuffle": _pixel_shuffle,
    "arange": _arange,
    "fill": _fill,
}
