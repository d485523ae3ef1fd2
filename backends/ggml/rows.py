"""ggml's operators along a row: sums, norms, softmax, losses. Other axes come to the end as a view."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.memory import Shape
from opproof.backends.ggml.views import (
    ensure_contiguous,
    ensure_rows,
    expand,
    move_back,
    move_to_last,
    permute,
    reshape,
    take_part,
)
from opproof.backends.protocol import Unsupported

#: Rows of which a loss without reduction is computed one by one.
_ROWS_APART = 32

Dims = int | tuple[int, ...] | None


def reduce_shape(shape: Shape, dims: Sequence[int], *, keepdim: bool) -> Shape:
    """`shape` without the axes `dims`, or with them of size 1."""
    return tuple(1 if i in dims else n for i, n in enumerate(shape) if keepdim or i not in dims)


def _call_along(name: str, g: Graph, x: Tensor, dim: Dims, *, keepdim: bool) -> Tensor:
    """`name` of the axes `dim` joined to one row."""
    n = len(x.shape)
    dims = sorted({d % n for d in ([dim] if isinstance(dim, int) else dim or range(n))})
    others = [d for d in range(n) if d not in dims]
    y = permute(g, x, [*others, *dims])
    if len(dims) != 1:
        y = reshape(g, y, (*(x.shape[d] for d in others), math.prod(x.shape[d] for d in dims)))
    y = g.call(name, ensure_rows(g, y))
    return reshape(g, y, reduce_shape(x.shape, dims, keepdim=keepdim))


def sum_(g: Graph, x: Tensor, *, dim: Dims, keepdim: bool) -> Tensor:
    if dim is not None:
        return _call_along("ggml_sum_rows", g, x, dim, keepdim=keepdim)
    y = g.call("ggml_sum", ensure_rows(g, x), shape=())
    return reshape(g, y, (1,) * len(x.shape)) if keepdim else y


def mean(g: Graph, x: Tensor, *, dim: Dims, keepdim: bool) -> Tensor:
    return _call_along("ggml_mean", g, x, dim, keepdim=keepdim)


def cumsum(g: Graph, x: Tensor, *, dim: int) -> Tensor:
    return move_back(g, g.call("ggml_cumsum", ensure_rows(g, move_to_last(g, x, dim))), dim)


def _apply_affine(g: Graph, y: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    y = y if weight is None else g.call("ggml_mul", y, weight)
    return y if bias is None else g.call("ggml_add", y, bias)


def layer_norm(
    g: Graph, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None,
    *, normalized_shape: tuple[int, ...], eps: float,
) -> Tensor:  # fmt: skip
    lead = x.shape[: len(x.shape) - len(normalized_shape)]
    row = x if len(normalized_shape) == 1 else reshape(g, x, (*lead, math.prod(normalized_shape)))
    return _apply_affine(
        g, reshape(g, g.call("ggml_norm", ensure_rows(g, row, "ggml_norm"), eps), x.shape), weight, bias
    )


def rms_norm(g: Graph, x: Tensor, weight: Tensor | None = None, *, eps: float) -> Tensor:
    return _apply_affine(g, g.call("ggml_rms_norm", ensure_rows(g, x), eps), weight, None)


def l2_norm(g: Graph, x: Tensor, *, dim: int, eps: float) -> Tensor:
    return move_back(g, g.call("ggml_l2_norm", ensure_rows(g, move_to_last(g, x, dim), "ggml_l2_norm"), eps), dim)


def group_norm(
    g: Graph, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *, num_groups: int, eps: float
) -> Tensor:
    """Channels are the third axis from the inside."""
    n, c, *space = x.shape
    four = reshape(g, x, (n, c, math.prod(space[:-1]), space[-1]) if space else (n, c, 1, 1))
    w, b = (None if t is None else reshape(g, t, (c, 1, 1)) for t in (weight, bias))
    return reshape(g, _apply_affine(g, g.call("ggml_group_norm", ensure_rows(g, four), num_groups, eps), w, b), x.shape)


def instance_norm(
    g: Graph, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *, eps: float
) -> Tensor:
    return group_norm(g, x, weight, bias, num_groups=x.shape[1], eps=eps)


def softmax(g: Graph, x: Tensor, *, dim: int) -> Tensor:
    return move_back(g, g.call("ggml_soft_max", ensure_contiguous(g, move_to_last(g, x, dim))), dim)


def softmax_ext(
    g: Graph, x: Tensor, mask: Tensor | None = None, sinks: Tensor | None = None, keep: Tensor | None = None,
    *, scale: float, max_bias: float,
) -> Tensor:  # fmt: skip
    """`keep` is a mask of -inf; added to a mask of floats it is one of -inf too."""
    if max_bias > 0 and mask is None:
        raise Unsupported("ggml_soft_max_ext applies ALiBi's slope to a mask only")
    if mask is not None and g.type(mask) == "bf16":
        raise Unsupported("ggml_soft_max_ext takes its mask in f16 or f32, not bf16")
    whole = make_mask(g, mask, read_kept(g, keep), x.shape)
    y = g.call("ggml_soft_max_ext", ensure_contiguous(g, x), whole, scale, max_bias)
    if sinks is not None:
        g.do("ggml_soft_max_add_sinks", y, sinks)
    return y


def read_kept(g: Graph, keep: Tensor | None) -> NDArray[np.bool_] | None:
    """Which scores stay, by the leaf of integers `keep`."""
    return None if keep is None else g.array_of(keep) != 0


def make_mask(g: Graph, mask: Tensor | None, open_: NDArray[np.bool_] | None, scores: Shape) -> Tensor | None:
    """The mask that ggml adds: contiguous, with as many queries and keys as the scores, in f32 or f16.

    It is -inf where a score is not `open_`.
    """
    if open_ is not None:
        kind = np.float32 if mask is None or g.type(mask) == "f32" else np.float16
        closed = g.leaf(np.where(open_, 0, -np.inf).astype(kind))
        if mask is None:
            mask = closed
        else:
            both = np.broadcast_shapes(mask.shape, closed.shape)
            mask = g.call("ggml_add", ensure_rows(g, expand(g, mask, both)), closed)
    if mask is None:
        return None
    whole = np.broadcast_shapes(mask.shape, scores[-2:])
    return ensure_contiguous(g, expand(g, mask, whole))


def cross_entropy(
    g: Graph, x: Tensor, target: Tensor, weight: Tensor | None = None,
    *, ignore_index: int, label_smoothing: float, reduction: str,
) -> Tensor:  # fmt: skip
    """Probabilities, or classes as rows of a one and zeros. ggml has the mean of all rows only: of each, a call."""
    axis = min(1, len(x.shape) - 1)
    outer = [d for d in range(len(x.shape)) if d != axis]
    count = math.prod(x.shape[d] for d in outer)
    if weight is not None or label_smoothing or (reduction != "mean" and not math.prod(x.shape)):
        raise Unsupported("ggml_cross_entropy_loss is a mean over rows, of which there are some, without weights")
    if reduction == "none" and count > _ROWS_APART:
        raise Unsupported(f"ggml_cross_entropy_loss is a mean over rows; of {count} alone each is a call")
    if g.type(target) == "i64" and x.pointer in g.arrays and np.any(g.array_of(x) == -np.inf):
        raise Unsupported("classes are probabilities to ggml_cross_entropy_loss, and 0 times minus infinity is NaN")
    x = ensure_contiguous(g, permute(g, x, [*outer, axis]))
    if g.type(target) == "i64":
        classes = g.array_of(target)
        if np.any(classes == ignore_index):
            raise Unsupported("ggml_cross_entropy_loss counts every row, and these have classes to ignore")
        labels = g.leaf(np.ascontiguousarray(classes[..., None] == np.arange(x.shape[-1]), dtype=np.float32))
    else:
        labels = ensure_contiguous(g, permute(g, target, [*outer, axis]))
    if reduction == "none":
        pairs = [(t, (count, x.shape[-1])) for t in (x, labels)]
        rows = [[take_part(g, reshape(g, t, two), 0, i, i + 1) for i in range(count)] for t, two in pairs]
        each = [g.call("ggml_cross_entropy_loss", *row, shape=(1,)) for row in zip(*rows, strict=True)]
        joined = functools.reduce(lambda a, b: g.call("ggml_concat", a, b, 0, shape=(a.shape[0] + 1,)), each)
        return reshape(g, joined, x.shape[:-1])
    y = g.call("ggml_cross_entropy_loss", x, labels, shape=())
    return y if reduction == "mean" else g.call("ggml_scale", y, float(count))


def timestep_embedding(g: Graph, timesteps: Tensor, *, dim: int, max_period: float) -> Tensor:
    if max_period != int(max_period):
        raise Unsupported("ggml_timestep_embedding takes an integer as max_period")
    shape = (timesteps.shape[0], dim)
    return g.call("ggml_timestep_embedding", ensure_rows(g, timesteps), dim, int(max_period), shape=shape)


TABLE: dict[str, Any] = {
    "sum": sum_,
    **{
        f.__name__: f
        for f in (
            mean, cumsum, layer_norm, rms_norm, l2_norm, group_norm, instance_norm, softmax, softmax_ext,
            cross_entropy, timestep_embedding,
        )
    },
}  # fmt: skip
