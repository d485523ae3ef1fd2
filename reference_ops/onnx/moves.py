"""ONNX's operators that move data or name places, by our references: reshape, gather, scatter, crop, reverse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.reference_ops.onnx.shared import NotTranslatable, Ref, to_numbers


def _reshape(ref: Ref, x: Any, shape: Any, *, allowzero: Any = 0) -> Any:
    sizes = to_numbers(shape)
    if not allowzero:
        sizes = [x.shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    return ref("reshape", x, shape=tuple(sizes))


def _flatten(ref: Ref, x: Any, *, axis: Any = 1) -> Any:
    axis = axis if axis >= 0 else axis + x.ndim
    return ref("reshape", x, shape=(math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


def _translate_squeeze(ref: Ref, x: Any, axes: Any = None) -> Any:
    dims = range(x.ndim) if axes is None else [a % x.ndim for a in to_numbers(axes)]
    return ref("reshape", x, shape=tuple(n for i, n in enumerate(x.shape) if i not in dims or n != 1))


def _translate_unsqueeze(ref: Ref, x: Any, axes: Any) -> Any:
    rank = x.ndim + len(to_numbers(axes))
    dims, sizes = [a % rank for a in to_numbers(axes)], iter(x.shape)
    return ref("reshape", x, shape=tuple(1 if i in dims else next(sizes) for i in range(rank)))


def _transpose(ref: Ref, x: Any, *, perm: Any = None) -> Any:
    return ref("permute", x, dims=tuple(reversed(range(x.ndim))) if perm is None else tuple(perm))


def _expand(ref: Ref, x: Any, shape: Any) -> Any:
    return ref("expand", x, shape=np.broadcast_shapes(x.shape, tuple(to_numbers(shape))))


def _pad(ref: Ref, x: Any, pads: Any, value: Any = None, axes: Any = None, *, mode: Any = "constant") -> Any:
    dims = range(x.ndim) if axes is None else [a % x.ndim for a in to_numbers(axes)]
    begins, ends = np.split(np.ravel(pads), 2)
    widths = [0, 0] * x.ndim
    for d, begin, end in zip(dims, begins, ends, strict=True):
        widths[2 * (x.ndim - 1 - d) : 2 * (x.ndim - d)] = [int(begin), int(end)]
    names = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    number = (float if x.dtype.kind == "f" else int)(0 if value is None else value)
    return ref("pad", x, pad=tuple(widths), mode=names[mode], value=number if mode == "constant" else None)


def _slice(ref: Ref, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    dims = range(len(to_numbers(starts))) if axes is None else to_numbers(axes)
    strides = [1] * len(to_numbers(starts)) if steps is None else to_numbers(steps)
    for d, start, end, step in zip(dims, to_numbers(starts), to_numbers(ends), strides, strict=True):
        size = x.shape[d]
        first, last, _ = slice(start, end, step).indices(size)
        if step < 0:  # ours goes forwards
            x, first, last = ref("flip", x, dims=(d,)), size - 1 - first, size - 1 - last
        x = ref("slice", x, dim=d, start=first, end=max(last, first), step=abs(step))
    return x


def _split(
    ref: Ref, x: Any, sizes: Any = None, *, axis: Any = 0, num_outputs: Any = None, split: Any = None, count: Any
) -> Any:
    """`count` is the number of the node's outputs."""
    size, given = x.shape[axis], split if split is not None else sizes
    if given is None:
        parts = count if num_outputs is None else num_outputs
        each = -(-size // parts)
        given = [min(each, size - i * each) for i in range(parts)]
    return ref("split", x, sizes=tuple(to_numbers(given)), dim=axis)


def _gather(ref: Ref, x: Any, indices: Any, *, axis: Any = 0) -> Any:
    axis %= x.ndim
    index = np.asarray(indices) % x.shape[axis]  # ours counts from the beginning only
    y = ref("index_select", x, np.ravel(index), dim=axis)
    return ref("reshape", y, shape=(*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def _gather_elements(ref: Ref, x: Any, indices: Any, *, axis: Any = 0) -> Any:
    return ref("gather", x, np.asarray(indices) % x.shape[axis], dim=axis % x.ndim)


def _translate_scatter_elements(
    ref: Ref, x: Any, indices: Any, updates: Any, *, axis: Any = 0, reduction: Any = "none"
) -> Any:
    if reduction not in ("none", "add"):
        raise NotTranslatable(f"reduction {reduction}")
    index = np.asarray(indices) % x.shape[axis]
    return ref("scatter" if reduction == "none" else "scatter_add", x, index, updates, dim=axis % x.ndim)


def _translate_top_k(ref: Ref, x: Any, k: Any, *, axis: Any = -1, largest: Any = 1, sorted: Any = 1) -> Any:
    return ref("topk", x, k=int(np.ravel(k)[0]), dim=axis % x.ndim, largest=bool(largest))


def _translate_one_hot(ref: Ref, indices: Any, depth: Any, values: Any, *, axis: Any = -1) -> Any:
    classes = int(np.ravel(depth)[0])
    if np.any((indices < -classes) | (indices >= classes)):
        raise NotTranslatable("places outside the tensor, which are nowhere hot")
    hot = ref("one_hot", np.asarray(indices).astype(np.int64) % classes, num_classes=classes)
    off, on = (float(v) for v in values)
    y = ref("scale", hot, s=on - off, b=off).astype(values.dtype)
    order = list(range(y.ndim - 1))
    order.insert(axis % y.ndim, y.ndim - 1)
    return ref("permute", y, dims=tuple(order))


def _depth_to_space(ref: Ref, x: Any, *, blocksize: Any, mode: Any = "DCR") -> Any:
    n, c, h, w = x.shape
    if mode == "CRD":
        return ref("pixel_shuffle", x, upscale_factor=blocksize)
    cells = ref("reshape", x, shape=(n, blocksize, blocksize, c // blocksize**2, h, w))
    turned = ref("permute", cells, dims=(0, 3, 4, 1, 5, 2))
    return ref("reshape", turned, shape=(n, c // blocksize**2, h * blocksize, w * blocksize))


def _space_to_depth(ref: Ref, x: Any, *, blocksize: Any, mode: Any = "DCR") -> Any:
    n, c, h, w = x.shape
    cells = ref("reshape", x, shape=(n, c, h // blocksize, blocksize, w // blocksize, blocksize))
    turned = ref("permute", cells, dims=(0, 1, 3, 5, 2, 4) if mode == "CRD" else (0, 3, 5, 1, 2, 4))
    return ref("reshape", turned, shape=(n, c * blocksize**2, h // blocksize, w // blocksize))


def _translate_range(ref: Ref, start: Any, limit: Any, delta: Any) -> Any:
    numbers = [v.item() if v.dtype.kind == "i" else float(v) for v in (start, limit, delta)]
    return ref("arange", start=numbers[0], end=numbers[1], step=numbers[2]).astype(start.dtype)


def _constant_of_shape(ref: Ref, shape: Any, *, value: Any = None) -> Any:
    number = np.zeros(1, np.float32) if value is None else value
    return ref("fill", np.empty(to_numbers(shape), number.dtype), value=number.item())


#: ONNX's numbers of the dtypes that `cast` knows.
DTYPES = {1: "f32", 10: "f16", 16: "bf16"}


def _cast(ref: Ref, x: Any, *, to: Any, saturate: Any = 1, round_mode: Any = "up") -> Any:
    if to not in DTYPES or x.dtype.kind != "f":
        raise NotTranslatable("dtypes other than floats of 16 and 32 bits")
    return ref("cast", x, to=DTYPES[to])


def _constant(ref: Ref, *, value: Any) -> Any:
    if value.dtype != np.float32:
        raise NotTranslatable("dtypes other than floats of 32 bits")
    return ref("constant", value=tuple(map(float, np.ravel(value))), size=value.shape)


MOVES: dict[str, Callable[..., Any]] = {
    "Cast": _cast,
    "Concat": lambda ref, *xs, axis: ref("concat", *xs, dim=axis),
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "Hardmax": lambda ref, x, *, axis=-1: ref("hardmax", x, dim=axis),
    "OneHot": _translate_one_hot,
    "Pad": _pad,
    "Range": _translate_range,
    "Reshape": _reshape,
    "Scatter": _translate_scatter_elements,
    "ScatterElements": _translate_scatter_elements,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _translate_squeeze,
    "Tile": lambda ref, x, repeats: ref("repeat", x, repeats=tuple(to_numbers(repeats))),
    "TopK": _translate_top_k,
    "Transpose": _transpose,
    "Unsqueeze": _translate_unsqueeze,
}


def _index_rows(x: Any, indices: Any, batch_dims: Any = 0) -> Any:
    """How many axes `indices` names together, and the number of each place in them when they are joined."""
    named = batch_dims + indices.shape[-1]
    own = np.indices(indices.shape[:-1])[:batch_dims]
    places = [*own, *(indices[..., i] % x.shape[batch_dims + i] for i in range(indices.shape[-1]))]
    return named, np.ravel(np.ravel_multi_index(places, x.shape[:named]))


def _gather_nd(ref: Ref, x: Any, indices: Any, *, batch_dims: Any = 0) -> Any:
    sizes = np.array(x.shape[batch_dims : batch_dims + indices.shape[-1]])
    return ref("gather_nd", x, indices % sizes, batch_dims=batch_dims)  # ours counts from the beginning only


def _translate_scatter_nd(ref: Ref, x: Any, indices: Any, updates: Any, *, reduction: Any = "none") -> Any:
    """The axes that indices name are joined, and those after them."""
    if reduction not in ("none", "add"):
        raise NotTranslatable(f"reduction {reduction}")
    named, index = _index_rows(x, indices)
    joined = ref("reshape", x, shape=(math.prod(x.shape[:named]), -1))
    source = ref("reshape", updates, shape=(index.size, -1))
    if reduction == "none":
        return ref("reshape", ref("set_rows", joined, source, index), shape=x.shape)
    return ref("reshape", ref("index_add", joined, index, source, dim=0), shape=x.shape)


def _compress(ref: Ref, x: Any, condition: Any, *, axis: Any = None) -> Any:
    if axis is None:
        x, axis = ref("reshape", x, shape=(-1,)), 0
    whole = np.zeros(x.shape[axis], np.int64)  # ONNX may say less of an axis than there is
    whole[: condition.size] = condition
    return ref("compress", x, whole, dim=axis % x.ndim, size=int(np.count_nonzero(whole)))


def _translate_shape(ref: Ref, x: Any, *, start: Any = 0, end: Any = None) -> Any:
    return ref("shape", x, start=start, end=end)


def _translate_nms(
    ref: Ref, boxes: Any, scores: Any, most: Any = None, iou: Any = None, least: Any = None, *,
    center_point_box: Any = 0,
) -> Any:  # fmt: skip
    """Of each batch and class in turn; what has no better score than `least` comes last of all, and is left out."""
    if center_point_box:
        raise NotTranslatable("boxes by their centres")
    size, found = 0 if most is None else int(np.ravel(most)[0]), []
    threshold = 0.0 if iou is None else float(np.ravel(iou)[0])
    for batch, classes in enumerate(scores):
        for number, own in enumerate(classes):
            kept = ref("nms", boxes[batch], own, iou_threshold=threshold, size=min(size, own.size))
            better = [i for i in kept if i >= 0 and (least is None or own[i] > float(np.ravel(least)[0]))]
            found += [(batch, number, i) for i in better]
    return np.array(found, np.int64).reshape(-1, 3)


def _translate_center_crop_pad(ref: Ref, x: Any, shape: Any, *, axes: Any = None) -> Any:
    dims = range(x.ndim) if axes is None else [a % x.ndim for a in to_numbers(axes)]
    widths = [0, 0] * x.ndim
    for d, size in zip(dims, to_numbers(shape), strict=True):
        more = size - x.shape[d]
        before = more // 2 if more > 0 else -(-more // 2)
        widths[2 * (x.ndim - 1 - d) : 2 * (x.ndim - d)] = [before, more - before]
    return ref("pad", x, pad=tuple(widths), value=(float if x.dtype.kind == "f" else int)(0))


def _translate_eye_like(ref: Ref, x: Any, *, k: Any = 0, dtype: Any = None) -> Any:
    ones = ref("fill", x, value=1.0 if x.dtype.kind == "f" else 1)
    return ref("tril", ref("triu", ones, diagonal=k), diagonal=k)


def _reverse_sequence(ref: Ref, x: Any, lengths: Any, *, batch_axis: Any = 1, time_axis: Any = 0) -> Any:
    steps = np.arange(x.shape[time_axis])
    index = np.stack([np.where(steps < n, n - 1 - steps, steps) for n in to_numbers(lengths)])  # (batch, time)
    index = index if batch_axis < time_axis else index.T
    shape = [n if a in (batch_axis, time_axis) else 1 for a, n in enumerate(x.shape)]
    return ref("take_along_dim", x, index.reshape(shape), dim=time_axis)


def _translate_tensor_scatter(
    ref: Ref, x: Any, update: Any, starts: Any = None, *, axis: Any = -2, mode: Any = "linear"
) -> Any:
    """The update of each batch written along `axis` from its start on, round the end where circular."""
    dim = axis % x.ndim
    begin = np.zeros(x.shape[0], np.int64) if starts is None else starts
    places = (begin[:, None] + np.arange(update.shape[dim])) % x.shape[dim]
    shape = [n if a in (0, dim) else 1 for a, n in enumerate(update.shape)]
    return ref("scatter", x, np.broadcast_to(places.reshape(shape), update.shape), update, dim=dim)


PLACES: dict[str, Callable[..., Any]] = {
    "CenterCropPad": _translate_center_crop_pad,
    "Compress": _compress,
    "EyeLike": _translate_eye_like,
    "NonMaxSuppression": _translate_nms,
    "Shape": _translate_shape,
    "Size": lambda ref, x: ref("numel", x),
    "GatherND": _gather_nd,
    "ReverseSequence": _reverse_sequence,
    "ScatterND": _translate_scatter_nd,
    "TensorScatter": _translate_tensor_scatter,
}
