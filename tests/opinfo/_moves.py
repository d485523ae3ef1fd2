"""Indices, and what moves elements: calls of PyTorch as calls of ours.

`_table.py` says which entry is read by which of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from _oracle import Reading, unless
from _readers import T, as_tensors, first, number_of, shape_of

# Indices


def embedding(
    weight: T,
    indices: T,
    padding_idx: Any = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Reading:
    unless(max_norm is not None, "renormalised rows")
    unless(scale_grad_by_freq, "a gradient divided by frequencies")
    if padding_idx is not None:
        padding_idx %= weight.shape[0]
    return Reading("embedding", (weight, indices), {"padding_idx": padding_idx})


def embedding_bag(weight: T, indices: T, offsets: Any = None, **given: Any) -> Reading:
    unless(given.get("max_norm") is not None, "renormalised rows")
    unless(given.get("scale_grad_by_freq"), "a gradient divided by frequencies")
    unless(offsets is not None or indices.ndim != 2, "bags of several lengths")
    padding = given.get("padding_idx")
    params = {"mode": given.get("mode", "mean"), "padding_idx": None if padding is None else padding % weight.shape[0]}
    return Reading("embedding_bag", (weight, indices, given.get("per_sample_weights")), params)


def one_hot(index: T, num_classes: int = -1) -> Reading:
    return Reading("one_hot", (index,), {"num_classes": int(index.max()) + 1 if num_classes == -1 else num_classes})


def gather(x: T, dim: int, index: T, *, sparse_grad: bool = False) -> Reading:
    unless(index.ndim != x.ndim, "an index of another rank")
    return Reading("gather", (x, index), {"dim": dim})


def take(x: T, index: T) -> Reading:
    flat = index.reshape(-1)
    flat = torch.where(flat < 0, flat + x.numel(), flat)
    return Reading("gather", (x.reshape(-1), flat), {"dim": 0}, lambda y: (y.reshape(-1),))


def acc(x: T, dim: int, index: T, source: T, *, alpha: Any = 1) -> Reading:
    """Places that are evenly spaced are a strided view."""
    unless(not x.ndim or index.ndim != 1 or index.numel() == 0, "no axis")
    steps = set(torch.diff(index).tolist())
    unless(len(steps) > 1 or 0 in steps, "places that are not evenly spaced")
    strides = list(torch.empty(x.shape).stride())
    offset = int(index[0]) * strides[dim]
    strides[dim] *= steps.pop() if steps else 1
    return Reading("acc", (x, source * alpha), {"stride": tuple(strides), "offset": offset})


def index_put(x: T, indices: Sequence[T], values: T, accumulate: bool = False) -> Reading:
    unless(len(indices) != 1 or indices[0].dtype == torch.bool, "several indices, or a mask")
    (index,) = indices
    shape = (*index.shape, *x.shape[1:])
    unless(index.ndim != 1, "indices of several axes")
    whole = values.expand(shape)
    if accumulate:
        return Reading("index_add", (x, index, whole), {"dim": 0})
    unless(x.ndim != 2, "not rows of a matrix")
    return Reading("set_rows", (x, whole, index))


def scatter_number(x: T, dim: int, index: T, src: Any, *, reduce: Any = None) -> Reading:
    unless(reduce not in (None, "add") or not x.ndim, "another reduction")
    whole = src if isinstance(src, T) else torch.full(index.shape, src, dtype=x.dtype)
    return Reading("scatter" if reduce is None else "scatter_add", (x, index, whole), {"dim": dim})


def scatter_reduce_sum(x: T, dim: int, index: T, src: T, reduce: str, *, include_self: bool = True) -> Reading:
    unless(not include_self, "x left out")
    return Reading("scatter_add", (x, index, src), {"dim": dim})


def repeat_interleave(x: T, repeats: Any, dim: Any = None, **_: Any) -> Reading:
    unless(isinstance(repeats, T) and repeats.numel() > 1, "several numbers of repeats")
    number = int(repeats)
    whole = x.reshape(-1) if dim is None else x
    return Reading("repeat_interleave", (whole,), {"repeats": number, "dim": 0 if dim is None else dim})


def unfold(x: T, dim: int, size: int, step: int) -> Reading:
    strides = list(torch.empty(x.shape).stride())
    if not x.ndim:
        return Reading("as_strided", (x,), {"size": (size,), "stride": (1,)})
    dim %= x.ndim
    windows = (x.shape[dim] - size) // step + 1
    shape = [*x.shape[:dim], windows, *x.shape[dim + 1 :], size]
    stride = [*strides[:dim], strides[dim] * step, *strides[dim + 1 :], strides[dim]]
    return Reading("as_strided", (x,), {"size": tuple(shape), "stride": tuple(stride)})


def as_strided_scatter(x: T, b: T, size: Any, stride: Any, storage_offset: Any = 0) -> Reading:
    """Copied into the view is added to what is zero there."""
    places = torch.zeros(x.numel(), dtype=x.dtype).as_strided(size, stride, storage_offset or 0)
    unless(
        places.numel() != torch.unique(_numbers(x).as_strided(size, stride, storage_offset or 0)).numel(),
        "cells that overlap",
    )
    hole = torch.as_strided_scatter(torch.ones_like(x), torch.zeros_like(b), size, stride, storage_offset or 0)
    return Reading("acc", (x * hole.detach(), b), {"stride": tuple(stride), "offset": storage_offset or 0})


def _numbers(x: T) -> T:
    return torch.arange(x.numel())


# Moves


def expand(x: T, *size: Any) -> Reading:
    return Reading("expand", (x,), {"shape": shape_of(size)})


def expand_as(x: T, other: T) -> Reading:
    return Reading("expand", (x,), {"shape": tuple(other.shape)})


def broadcast_tensors(*tensors: T) -> Reading:
    shape = torch.broadcast_shapes(*(t.shape for t in tensors))
    return Reading("expand", (tensors[0],), {"shape": tuple(shape)}, first)


def meshgrid(*tensors: T, indexing: str = "ij") -> Reading:
    shape = [t.numel() for t in tensors]
    turned = indexing == "xy" and len(tensors) > 1
    if turned:
        shape[:2] = shape[1::-1]
    own = [1] * len(tensors)
    own[1 if turned else 0] = tensors[0].numel()
    return Reading("expand", (tensors[0].reshape(own),), {"shape": tuple(shape)}, first)


def meshgrid_of_a_list(tensors: Sequence[T], **given: Any) -> Reading:
    return meshgrid(*tensors, **given)


def reshape(x: T, *shape: Any) -> Reading:
    return Reading("reshape", (x,), {"shape": shape_of(shape)})


def reshape_as(x: T, other: T) -> Reading:
    return Reading("reshape", (x,), {"shape": tuple(other.shape)})


def reshaped(y: Any, x: Any, *args: Any, **given: Any) -> Reading:
    """What keeps the elements' order, by the shape that came."""
    unless(not isinstance(x, T) or not isinstance(y, T), "several tensors")
    return Reading("reshape", (x,), {"shape": tuple(y.shape)})


def pixel_unshuffle(y: T, x: T, downscale_factor: int) -> Reading:
    """PyTorch's result shuffled is its argument."""
    return Reading("pixel_shuffle", (y,), {"upscale_factor": downscale_factor}, lambda _: (x,))


def channel_shuffle(x: T, groups: int) -> Reading:
    n, c = x.shape[:2]
    parted = x.reshape(n, groups, c // groups, *x.shape[2:])
    return Reading(
        "transpose", (parted,), {"dim0": 1, "dim1": 2}, lambda y: (y.reshape(n, c // groups, groups, *x.shape[2:]),)
    )


def movedim(x: T, source: Any, destination: Any) -> Reading:
    numbers = torch.arange(x.numel()).reshape(x.shape)
    pairs = [(d,) if isinstance(d, int) else tuple(d) for d in (source, destination)]
    left = [d for d in range(x.ndim) if d not in {s % x.ndim for s in pairs[0]}]
    order: list[int] = [-1] * x.ndim
    for s, d in zip(*pairs, strict=True):
        order[d % x.ndim] = s % x.ndim
    rest = iter(left)
    del numbers
    return Reading("permute", (x,), {"dims": tuple(next(rest) if d == -1 else d for d in order)})


def permute(x: T, dims: Any) -> Reading:
    return Reading("permute", (x,), {"dims": tuple(dims)})


def flip(x: T, dims: Any) -> Reading:
    return Reading("flip", (x,), {"dims": (dims,) if isinstance(dims, int) else tuple(dims)})


def as_strided(x: T, size: Any, stride: Any, storage_offset: Any = None) -> Reading:
    """Ours counts from the tensor's own first element, of a tensor that is the whole of its memory."""
    unless(
        not x.is_contiguous() or x.untyped_storage().nbytes() != x.numel() * x.element_size(), "a view of more memory"
    )
    params = {"size": tuple(size), "stride": tuple(stride), "storage_offset": storage_offset or 0}
    return Reading("as_strided", (x,), params)


def turned(x: T) -> Reading:
    unless(x.ndim < 2, "no two axes")
    return Reading("transpose", (x,), {"dim0": -2, "dim1": -1})


def rot90(x: T, k: int = 1, dims: Any = (0, 1)) -> Reading:
    unless(k % 4 != 2, "a quarter turn")
    return Reading("flip", (x,), {"dims": tuple(dims)})


def fliplr(x: T) -> Reading:
    return Reading("flip", (x,), {"dims": (1,)})


def flipud(x: T) -> Reading:
    return Reading("flip", (x,), {"dims": (0,)})


def roll(x: T, shifts: Any, dims: Any = None) -> Reading:
    if dims is None or dims == ():
        return Reading("roll", (x.reshape(-1),), {"shifts": shifts, "dims": 0}, lambda y: (y.reshape(-1),))
    return Reading("roll", (x,), {"shifts": shifts, "dims": dims})


def repeat(x: T, *repeats: Any) -> Reading:
    return Reading("repeat", (x,), {"repeats": shape_of(repeats)})


def tile(x: T, *dims: Any) -> Reading:
    repeats = shape_of(dims)
    return Reading("repeat", (x,), {"repeats": (1,) * (x.ndim - len(repeats)) + repeats})


def diag_mask_zero(x: T, diagonal: int = 0) -> Reading:
    unless(diagonal < 0, "a diagonal below the first")
    return Reading("diag_mask_zero", (x,), {"n_past": diagonal})


def diagflat(x: T, offset: int = 0) -> Reading:
    return Reading("diag", (x.reshape(-1),), {"diagonal": offset})


def diagonal(x: T, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Reading:
    """A diagonal is a strided view."""
    strides = torch.empty(x.shape).stride()
    a, b = dim1 % x.ndim, dim2 % x.ndim
    length = max(min(x.shape[a] + min(offset, 0), x.shape[b] - max(offset, 0)), 0)
    left = [d for d in range(x.ndim) if d not in (a, b)]
    start = max(offset, 0) * strides[b] - min(offset, 0) * strides[a]
    unless(not length, "no element")
    size = (*(x.shape[d] for d in left), length)
    stride = (*(strides[d] for d in left), strides[a] + strides[b])
    return Reading("as_strided", (x,), {"size": size, "stride": stride, "storage_offset": start})


def linalg_diagonal(x: T, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Reading:
    return diagonal(x, offset, dim1, dim2)


def cat(tensors: Any, dim: int = 0, **given: Any) -> Reading:
    tensors = tuple(tensors)
    unless(len({t.dtype for t in tensors}) > 1, "dtypes that are promoted")
    full = max(t.ndim for t in tensors)
    unless(any(t.ndim < full for t in tensors), "an empty tensor of another rank")
    return Reading("concat", tensors, {"dim": given.get("axis", dim)})


def hstack(tensors: Any) -> Reading:
    whole = torch.atleast_1d(*tensors)
    return cat(whole, 0 if whole[0].ndim == 1 else 1)


def vstack(tensors: Any) -> Reading:
    return cat(torch.atleast_2d(*tensors))


def dstack(tensors: Any) -> Reading:
    return cat(torch.atleast_3d(*tensors), 2)


def column_stack(tensors: Any) -> Reading:
    return cat([t if t.ndim > 1 else t.reshape(-1, 1) for t in tensors], 1)


def split_along(y: Any, x: T, sections: Any, dim: int = 0) -> Reading:
    unless(not y, "no part")
    return Reading("split", (x,), {"sizes": tuple(t.shape[dim] for t in y), "dim": dim})


def hsplit(y: Any, x: T, sections: Any) -> Reading:
    return split_along(y, x, sections, 0 if x.ndim == 1 else 1)


def vsplit(y: Any, x: T, sections: Any) -> Reading:
    return split_along(y, x, sections)


def dsplit(y: Any, x: T, sections: Any) -> Reading:
    return split_along(y, x, sections, 2)


def unbind(x: T, dim: int = 0) -> Reading:
    unless(not x.shape[dim], "no part")
    sizes = (1,) * x.shape[dim]
    return Reading("split", (x,), {"sizes": sizes, "dim": dim}, lambda y: tuple(t.unsqueeze(dim) for t in y))


def narrow(x: T, dim: int, start: Any, length: int) -> Reading:
    start = int(start)
    start += x.shape[dim] if start < 0 else 0
    return Reading("slice", (x,), {"dim": dim, "start": start, "end": start + length})


def select(x: T, dim: int, index: int) -> Reading:
    return Reading(
        "slice",
        (x,),
        {"dim": dim, "start": index % x.shape[dim], "end": index % x.shape[dim] + 1},
        lambda y: (y.unsqueeze(dim),),
    )


def slice_of(x: T, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Reading:
    return Reading("slice", (x,), {"dim": dim, "start": start or 0, "end": end, "step": step})


def getitem(x: T, index: Any) -> Reading:
    items = index if isinstance(index, tuple | list) else (index,)
    unless(not all(isinstance(i, slice | int) and not isinstance(i, bool) for i in items), "indices that are no slices")
    cut = [(d, i) for d, i in enumerate(items) if i != slice(None)]
    unless(len(cut) > 1, "slices of several axes")
    unless(not cut, "no slice")
    ((dim, item),) = cut
    if isinstance(item, int):
        return select(x, dim, item)
    return slice_of(x, dim, item.start, item.stop, item.step or 1)


def slice_scatter(x: T, b: T, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Reading:
    unless(step != 1, "steps of several cells")
    start = (start or 0) + (x.shape[dim] if (start or 0) < 0 else 0)
    return Reading("set", (x, b), {"offset": tuple(start if d == dim % x.ndim else 0 for d in range(x.ndim))})


def select_scatter(x: T, b: T, dim: int, index: int) -> Reading:
    return slice_scatter(x, b.unsqueeze(dim), dim, index)


def diagonal_scatter(x: T, b: T, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Reading:
    view = diagonal(x, offset, dim1, dim2).params
    return as_strided_scatter(x, b, view["size"], view["stride"], view["storage_offset"])


def masked_fill(x: T, mask: T, value: Any) -> Reading:
    unless(torch.broadcast_shapes(x.shape, mask.shape) != x.shape, "x broadcasts to the mask")
    return Reading("masked_fill", (x, mask), {"value": number_of(value)})


def where(a: Any, condition: T, b: Any) -> Reading:
    """An entry's own order: the function is a method of a."""
    unless(isinstance(a, T) and isinstance(b, T) and a.dtype != b.dtype, "dtypes that are promoted")
    return Reading("where", (condition, *as_tensors(a, b)))


def msort(x: T) -> Reading:
    return Reading("sort", (x,), {"dim": 0})
