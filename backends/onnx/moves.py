"""ONNX's operators by ours: what moves, picks and sorts. See model.py."""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

from opproof.backends.onnx.model import ELEMENTS, Entry, Model, ModelInput
from opproof.backends.protocol import Unsupported
from opproof.backends.table import decline_params

#: ONNX's "to the end", in either direction.
SLICE_END, SLICE_BEGIN = np.iinfo(np.int64).max, np.iinfo(np.int64).min


def _cast(m: Model, x: ModelInput, *, to: str) -> str:
    return _as(m, _as(m, x, to), x.dtype)


def _as(m: Model, x: ModelInput | str, to: str) -> str:
    """One Cast; to 8-bit floats the one that does not saturate, which leaves infinities as they are."""
    more = {"saturate": 0} if to.startswith("f8") else {}
    return m.node("Cast", x, to=ELEMENTS[to], **more)


def _transpose(m: Model, x: ModelInput, *, dim0: int, dim1: int) -> str:
    order = list(range(x.rank))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return m.node("Transpose", x, perm=order)


def _permute(m: Model, x: ModelInput, *, dims: tuple[int, ...]) -> str:
    return m.node("Transpose", x, perm=[d % x.rank for d in dims])


def _reshape(m: Model, x: ModelInput | str, shape: tuple[int, ...]) -> str:
    return m.node("Reshape", x, m.constant(np.array(shape, np.int64)), allowzero=int(-1 not in shape))


def _expand(m: Model, x: ModelInput, *, shape: tuple[int, ...]) -> str:
    lead = len(shape) - x.rank
    return m.node("Expand", x, m.constant([x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)]))


def _stack(m: Model, *xs: ModelInput, dim: int) -> str:
    return m.node("Concat", *(m.node("Unsqueeze", x, m.constant([dim])) for x in xs), axis=dim)


def _split(m: Model, x: ModelInput, *, sizes: tuple[int, ...], dim: int) -> list[str]:
    return m.nodes_results("Split", len(sizes), x, m.constant(sizes), axis=dim)


def _repeat(m: Model, x: ModelInput, *, repeats: tuple[int, ...]) -> str:
    """Tile takes a number per axis: where there are more, x gets axes of size 1 in front."""
    lead = len(repeats) - x.rank
    return m.node("Tile", _reshape(m, x, (1,) * lead + x.shape) if lead else x, m.constant(repeats))


def _slice(m: Model, x: ModelInput, *, dim: int, start: int, end: int | None, step: int) -> str:
    stop = SLICE_END if end is None else end
    return m.node("Slice", x, *(m.constant([n]) for n in (start, stop, dim, step)))


def _flip(m: Model, x: ModelInput, *, dims: tuple[int, ...]) -> str:
    n = len(dims)
    return m.node("Slice", x, *(m.constant(v) for v in ([-1] * n, [SLICE_BEGIN] * n, list(dims), [-1] * n)))


def _pad(m: Model, x: ModelInput, *, pad: tuple[int, ...], mode: str, value: float | None) -> str:
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    axes = [x.rank - 1 - i for i in range(len(pad) // 2)]
    number = m.constant(0 if value is None else value, x.dtype) if mode == "constant" else None
    widths = m.constant([*pad[::2], *pad[1::2]])
    return m.node("Pad", x, widths, number, m.constant(np.array(axes, np.int64)), mode=modes[mode])


def _fill(m: Model, x: ModelInput, *, value: float) -> str:
    number = helper.make_tensor("value", ELEMENTS[x.dtype], (1,), [value])
    return m.node("ConstantOfShape", m.node("Shape", x), value=number)


def _eye(model: Model, *, n: int, m: int | None, k: int) -> str:
    return model.node("EyeLike", model.constant([[0.0] * (n if m is None else m)] * n, "f32"), k=k)


def _arange(m: Model, *, start: float, end: float, step: float) -> str:
    return m.node("Range", *(m.constant(n, "f32") for n in (start, end, step)))


def _take_along_dim(m: Model, x: ModelInput, indices: ModelInput, *, dim: int) -> str:
    """GatherElements, which does not broadcast: what has to be is expanded first."""
    dim %= x.rank
    common = np.broadcast_shapes(*((*t.shape[:dim], 1, *t.shape[dim + 1 :]) for t in (x, indices)))
    return m.node("GatherElements", *(_widen(m, t, common, dim) for t in (x, indices)), axis=dim)


def _widen(m: Model, x: ModelInput, shape: tuple[int, ...], dim: int) -> ModelInput | str:
    """The tensor broadcast to `shape` on all axes but `dim`."""
    whole = (*shape[:dim], x.shape[dim], *shape[dim + 1 :])
    return x if x.shape == whole else m.node("Expand", x, m.constant(whole))


def _scatter(reduction: str) -> Entry:
    def entry(m: Model, x: ModelInput, index: ModelInput, src: ModelInput, *, dim: int) -> str:
        if index.shape != src.shape:
            raise Unsupported("ONNX's ScatterElements takes as many updates as indices")
        return m.node("ScatterElements", x, index, src, axis=dim, reduction=reduction)

    return entry


def _set_rows(m: Model, x: ModelInput, source: ModelInput, indices: ModelInput) -> str:
    if x.rank != 2:
        raise Unsupported("ONNX's ScatterND writes rows of one matrix, not of a batch")
    return m.node("ScatterND", x, m.node("Unsqueeze", indices, m.constant([1])), source)


def _index_add(m: Model, x: ModelInput, index: ModelInput, source: ModelInput, *, dim: int, alpha: float) -> str:
    if dim % x.rank != 0 or alpha != 1:
        raise Unsupported("ONNX's ScatterND adds slices of the first axis, as they are")
    return m.node("ScatterND", x, m.node("Unsqueeze", index, m.constant([1])), source, reduction="add")


def _top(m: Model, x: ModelInput, k: int, dim: int, *, largest: bool) -> list[str]:
    return m.nodes_results("TopK", 2, x, m.constant([k]), axis=dim, largest=int(largest), sorted=1)


def _sort(m: Model, x: ModelInput, *, dim: int, descending: bool) -> list[str]:
    """TopK of the whole axis; the lower index goes first among equals, as in a stable sort."""
    return _top(m, x, x.shape[dim], dim, largest=descending)


def _one_hot(m: Model, index: ModelInput, *, num_classes: int) -> str:
    if not index.rank:
        raise Unsupported("ONNX's OneHot takes indices of one axis or more")
    return m.node("OneHot", index, m.constant(num_classes), m.constant([0, 1]))


def _make_constant(m: Model, *, value: float | tuple[float, ...], size: tuple[int, ...], to: str) -> str:
    numbers = np.reshape(np.array(value, dtype=np.float32), size).astype(helper.tensor_dtype_to_np_dtype(ELEMENTS[to]))
    return m.node("Cast", m.node("Constant", value=numpy_helper.from_array(numbers)), to=ELEMENTS["f32"])


def _bitcast(m: Model, x: ModelInput, *, of: str, to: str) -> str:
    if of != x.dtype or to[1:] != of.removeprefix("b")[1:]:
        raise Unsupported("ONNX's BitCast is of numbers as wide")
    return m.node("Cast", m.node("BitCast", x, to=ELEMENTS[to]), to=ELEMENTS["i64"])


def _compress(m: Model, x: ModelInput, condition: ModelInput, *, dim: int, size: int, fill_value: float) -> str:
    """As many slices as there are, then some of fill_value, and the first of all these."""
    found = m.node("Compress", x, m.node("Cast", condition, to=ELEMENTS["bool"]), axis=dim)
    shape = [size if a == dim % x.rank else n for a, n in enumerate(x.shape)]
    rest = m.node("Expand", m.constant(fill_value, x.dtype), m.constant(np.array(shape, np.int64)))
    whole = m.node("Concat", found, rest, axis=dim)
    return m.node("Slice", whole, *(m.constant([n]) for n in (0, size, dim % x.rank)))


def _non_max_suppression(m: Model, boxes: ModelInput, scores: ModelInput, *, iou_threshold: float, size: int) -> str:
    """Of one batch and one class; behind the last box -1."""
    given = (m.node("Unsqueeze", boxes, m.constant([0])), m.node("Unsqueeze", scores, m.constant([0, 1])))
    limits = (m.constant([size]), m.constant([iou_threshold], "f32"))
    numbers = m.node("Gather", m.node("NonMaxSuppression", *given, *limits), m.constant(2), axis=1)
    return m.node(
        "Slice", m.node("Concat", numbers, m.constant([-1] * size), axis=0), m.constant([0]), m.constant([size])
    )


TABLE: dict[str, Entry] = {
    "reshape": lambda m, x, *, shape: _reshape(m, x, shape),
    "permute": _permute,
    "transpose": _transpose,
    "cast": _cast,
    "contiguous": lambda m, x: m.node("Identity", x),
    "expand": _expand,
    "concat": lambda m, *xs, dim: m.node("Concat", *xs, axis=dim),
    "stack": _stack,
    "split": _split,
    "repeat": _repeat,
    "slice": _slice,
    "flip": _flip,
    "pad": _pad,
    "fill": _fill,
    "arange": _arange,
    "eye": _eye,
    "pixel_shuffle": lambda m, x, *, upscale_factor: m.node("DepthToSpace", x, blocksize=upscale_factor, mode="CRD"),
    "embedding": decline_params(
        "ONNX", lambda m, weight, indices: m.node("Gather", weight, indices, axis=0), "padding_idx"
    ),
    "index_select": lambda m, x, index, *, dim: m.node("Gather", x, index, axis=dim),
    "index_add": _index_add,
    "gather": lambda m, x, index, *, dim: m.node("GatherElements", x, index, axis=dim),
    "take_along_dim": _take_along_dim,
    "scatter": _scatter("none"),
    "scatter_add": _scatter("add"),
    "set_rows": _set_rows,
    "sort": _sort,
    "argsort": lambda m, x, *, dim, descending: _sort(m, x, dim=dim, descending=descending)[1],
    "topk": lambda m, x, *, k, dim, largest: _top(m, x, k, dim, largest=largest),
    "one_hot": _one_hot,
    "shape": lambda m, x, *, start, end: m.node("Shape", x, start=start, end=end),
    "numel": lambda m, x: m.node("Size", x),
    "constant": _make_constant,
    "bitcast": _bitcast,
    "compress": _compress,
    "gather_nd": lambda m, x, indices, *, batch_dims: m.node("GatherND", x, indices, batch_dims=batch_dims),
    "nms": _non_max_suppression,
}
