"""ggml's operators that move elements: views, copies, tiles, padding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.views import (  # fmt: skip
    cast,
    ensure_contiguous,
    ensure_rows,
    expand,
    make_view,
    permute,
    reshape,
    shape_of_four,
    swap_axes,
    take_part,
)
from opproof.backends.protocol import Unsupported


def _reshape(g: Graph, x: Tensor, *, shape: tuple[int, ...]) -> Tensor:
    known = math.prod(n for n in shape if n >= 0)
    return reshape(g, x, tuple(math.prod(x.shape) // known if n < 0 else n for n in shape))


def _permute(g: Graph, x: Tensor, *, dims: tuple[int, ...]) -> Tensor:
    return permute(g, x, dims)


def transpose(g: Graph, x: Tensor, *, dim0: int, dim1: int) -> Tensor:
    return swap_axes(g, x, dim0, dim1)


def contiguous(g: Graph, x: Tensor) -> Tensor:
    return g.call("ggml_cont", x)


def _expand(g: Graph, x: Tensor, *, shape: tuple[int, ...]) -> Tensor:
    lead = len(shape) - len(x.shape)
    return expand(g, x, tuple(x.shape[i - lead] if n < 0 else n for i, n in enumerate(shape)))


def repeat(g: Graph, x: Tensor, *, repeats: tuple[int, ...]) -> Tensor:
    wide = (1,) * (len(repeats) - len(x.shape)) + x.shape
    return expand(g, x, tuple(n * r for n, r in zip(wide, repeats, strict=True)))


def repeat_interleave(g: Graph, x: Tensor, *, repeats: int, dim: int) -> Tensor:
    """Each element as a row of one, repeated."""
    dim %= len(x.shape)
    outer, inner = math.prod(x.shape[:dim]), math.prod(x.shape[dim + 1 :])
    four = reshape(g, x, (outer, x.shape[dim], 1, inner))
    shape = (*x.shape[:dim], x.shape[dim] * repeats, *x.shape[dim + 1 :])
    return reshape(g, expand(g, four, (outer, x.shape[dim], repeats, inner)), shape)


def concat(g: Graph, *xs: Tensor, dim: int) -> Tensor:
    """Two at a time."""
    shape_of_four(xs[0].shape)
    n, y = len(xs[0].shape), xs[0]
    dim %= n
    for x in xs[1:]:
        shape = (*y.shape[:dim], y.shape[dim] + x.shape[dim], *y.shape[dim + 1 :])
        y = g.call("ggml_concat", y, x, n - 1 - dim, shape=shape)
    return y if len(xs) > 1 else contiguous(g, y)


def stack(g: Graph, *xs: Tensor, dim: int) -> Tensor:
    dim %= len(xs[0].shape) + 1
    return concat(g, *(reshape(g, x, (*x.shape[:dim], 1, *x.shape[dim:])) for x in xs), dim=dim)


def slice_(g: Graph, x: Tensor, *, dim: int, start: int, end: int | None, step: int) -> Tensor:
    size = x.shape[dim]
    first, stop, stride = slice(start, end, step).indices(size)
    return take_part(g, x, dim, first, max(first, stop), stride)


def split(g: Graph, x: Tensor, *, sizes: tuple[int, ...] | int, dim: int) -> list[Tensor]:
    n = x.shape[dim]
    if isinstance(sizes, int):
        sizes = tuple(min(sizes, n - i) for i in range(0, n, sizes))
    ends = np.cumsum(sizes).tolist()
    return [take_part(g, x, dim, end - size, end) for size, end in zip(sizes, ends, strict=True)]


def as_strided(g: Graph, x: Tensor, *, size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int) -> Tensor:
    return make_view(g, ensure_contiguous(g, x), size, stride, storage_offset)


def roll(g: Graph, x: Tensor, *, shifts: Any, dims: Any) -> Tensor:
    if dims is None:
        flat = reshape(g, x, (math.prod(x.shape),))
        return reshape(g, roll(g, flat, shifts=shifts, dims=0), x.shape)
    shape_of_four(x.shape)
    by, n = [0] * 4, len(x.shape)
    for shift, dim in zip(np.atleast_1d(shifts).tolist(), np.atleast_1d(dims).tolist(), strict=True):
        by[n - 1 - dim % n] += shift
    sizes = (*reversed(x.shape), 1, 1, 1, 1)
    return g.call("ggml_roll", ensure_rows(g, x), *(s % max(size, 1) for s, size in zip(by, sizes, strict=False)))


def pad(g: Graph, x: Tensor, *, pad: tuple[int, ...], mode: str, value: float | None) -> Tensor:
    shape_of_four(x.shape)
    if any(p < 0 for p in pad):
        raise Unsupported("ggml_pad does not crop")
    ends = (*pad, *([0] * 8))[:8]
    n = len(x.shape)
    grown = {n - 1 - i: ends[2 * i] + ends[2 * i + 1] for i in range(n)}
    shape = tuple(size + grown[i] for i, size in enumerate(x.shape))
    if mode == "constant" and not value:
        return g.call("ggml_pad_ext", ensure_rows(g, x, "ggml_pad_ext"), *ends, shape=shape)
    if mode == "circular":
        return g.call("ggml_pad_ext_circular", ensure_rows(g, x, "ggml_pad_ext_circular"), *ends, shape=shape)
    if mode == "reflect" and not any(ends[2:]):
        return g.call("ggml_pad_reflect_1d", ensure_contiguous(g, x), *ends[:2], shape=shape)
    raise Unsupported("ggml pads with zeros, around a torus, or by reflection of rows")


def arange(g: Graph, *, start: float, end: float, step: float) -> Tensor:
    if end <= start:
        raise Unsupported("ggml_arange counts up")
    return g.call("ggml_arange", float(start), float(end), float(step), shape=(math.ceil((end - start) / step),))


def _cast(g: Graph, x: Tensor, *, to: str) -> Tensor:
    return cast(g, cast(g, x, to), g.type(x))


TABLE: dict[str, Any] = {
    "cast": _cast,
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "slice": slice_,
    **{
        f.__name__: f
        for f in (transpose, contiguous, repeat, repeat_interleave, concat, stack, split, as_strided, roll, pad, arange)
    },
}
