"""Sums, means, products and extremes by index or by run of rows: bags of embeddings, scatter_reduce, segment_reduce."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from opproof.core.errors import OpError
from opproof.harness.reference.torch.arithmetic import Arithmetic
from opproof.harness.reference.torch.intercept import with_modes_off
from opproof.harness.reference.torch.sums import Rule, by_index, differentiate_steps

#: PyTorch's numbers of what is done to a bag.
_MODE_MEAN = 1
_MODE_MAX = 2


def reduce_bags(
    noise: Arithmetic, func: Any, weight: Any, indices: Any, offsets: Any, by_count: bool = False, mode: int = 0,
    sparse: bool = False, weights: Any = None, closed: bool = False, padding: int = -1,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """_embedding_bag: the bags, of each index its bag, sizes, and which row was the largest."""
    torch = noise.torch

    def made() -> Any:
        with with_modes_off():
            return func(weight, indices, offsets, by_count, mode, sparse, None, closed, padding)

    known = noise.decide("bags", made)
    count = offsets.shape[0] - int(closed)
    bag = _bag_of(torch, indices, offsets[:count])
    sizes, largest = known[2], known[3]
    if mode == _MODE_MAX:
        y = weight.gather(0, largest.clamp_min(0))
        return torch.where((sizes > 0)[:, None], y, 0.0), bag, sizes, largest
    rows = weight.index_select(0, indices)
    rows = rows if weights is None else rows * weights[:, None]
    kept = indices != padding
    y = weight.new_zeros(count, weight.shape[1]).index_add(0, bag[kept], rows[kept])
    return (y / sizes.clamp_min(1)[:, None].double() if mode == _MODE_MEAN else y), bag, sizes, largest


def _bag_of(torch: Any, indices: Any, offsets: Any) -> Any:
    places = torch.arange(indices.shape[0])
    return torch.searchsorted(offsets.to(places.dtype).contiguous(), places, right=True) - 1


def differentiate_bags(
    noise: Arithmetic, func: Any, g: Any, indices: Any, offsets: Any, bag: Any, sizes: Any, largest: Any, rows: int,
    by_count: bool, mode: int, sparse: bool, weights: Any, padding: int = -1,
) -> Any:  # fmt: skip
    """_embedding_bag_backward."""
    del noise, func, offsets, sparse
    if by_count:
        raise OpError("embedding_bag of scale_grad_by_freq=True has no rule under noise: leave it out.")
    if mode == _MODE_MAX:
        held = sizes > 0
        return g.new_zeros(rows, g.shape[1]).scatter_add(0, largest[held], g[held])
    shares = g / sizes.clamp_min(1)[:, None].double() if mode == _MODE_MEAN else g
    each = shares.index_select(0, bag)
    each = each if weights is None else each * weights[:, None]
    kept = indices != padding
    return g.new_zeros(rows, g.shape[1]).index_add(0, indices[kept], each[kept])


def differentiate_bag_weights(
    noise: Arithmetic,
    func: Any,
    g: Any,
    weight: Any,
    indices: Any,
    offsets: Any,
    bag: Any,
    mode: int,
    padding: int = -1,
) -> Any:
    """_embedding_bag_per_sample_weights_backward."""
    del func, bag, mode
    each = (g.index_select(0, _bag_of(noise.torch, indices, offsets)) * weight.index_select(0, indices)).sum(1)
    return each.masked_fill(indices == padding, 0.0)


BAGS: dict[str, Rule] = {
    "_embedding_bag": reduce_bags,
    "_embedding_bag_forward_only": reduce_bags,
    "_embedding_bag_backward": differentiate_bags,
    "_embedding_bag_per_sample_weights_backward": differentiate_bag_weights,
}


def reduce_scattered(
    noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """scatter_reduce. Raises OpError where `reduce` has no rule."""
    if not x.dim():
        y = reduce_scattered(
            noise, func, x[None], 0, index.reshape(-1), src.reshape(-1), reduce, include_self=include_self
        )
        return y[0]
    if reduce in ("amax", "amin"):
        return _reduce_extreme(noise, func, x, dim, index, src, reduce, include_self=include_self)
    if reduce in _SUMMED:
        return _SUMMED[reduce](noise, func, x, dim, index, src, include_self=include_self)
    raise OpError(f"{func} with reduce={reduce!r} has no rule under noise: write the reference with other operations.")


def by_rows(
    noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """index_reduce: one index for all that lies at a place of `dim`."""
    del func
    if not x.dim():
        x, src = x[None], src.reshape(-1)
        return by_rows(noise, None, x, 0, index.reshape(-1), src, reduce, include_self=include_self)[0]
    shape = [-1 if axis == dim % src.dim() else 1 for axis in range(src.dim())]
    places = index.reshape(shape).expand(src.shape)
    full = noise.torch.ops.aten.scatter_reduce.two
    return reduce_scattered(noise, full, x, dim, places, src, reduce, include_self=include_self)


def _reduce_extreme(
    noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, reduce: str, **self: Any
) -> Any:
    """Of several the exact evaluation chooses the place, -1 where x stays; the value has its noise."""

    def winners() -> Any:
        y = func(x, dim, index, src, reduce, **self)
        shape = [-1 if axis == dim % src.dim() else 1 for axis in range(src.dim())]
        rows = noise.torch.arange(src.shape[dim]).reshape(shape).expand(src.shape)
        inside = rows[tuple(slice(n) for n in index.shape)]
        wins = src[tuple(slice(n) for n in index.shape)] == y.gather(dim, index)
        none = noise.torch.full(x.shape, -1)
        return none.scatter_reduce(dim, index, inside.where(wins, -1), "amax")

    winner = noise.decide("scattered", winners)
    if noise.exact or not src.numel():
        return func(x, dim, index, src, reduce, **self)
    y = x.clone()
    inside = tuple(slice(None) if axis == dim % src.dim() else slice(n) for axis, n in enumerate(src.shape))
    y[inside] = src.gather(dim, winner[inside].clamp_min(0)).where(winner[inside] >= 0, x[inside])
    return y


def _sum(noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, **self: Any) -> Any:
    return by_index(noise, func, x, dim, index, src, "sum", **self)


def _reduce_mean(noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, **self: Any) -> Any:
    ones = noise.torch.ones_like
    counts = func(ones(x), dim, index, ones(src), "sum", **self)
    return noise.rounded(_sum(noise, func, x, dim, index, src, **self) / counts)


def _reduce_product(noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, **self: Any) -> Any:
    """Every factor but one rounds once: as so many roundings of the result."""
    y = func(x, dim, index, src, "prod", **self)
    ones = noise.torch.ones_like
    factors = func(ones(x), dim, index, ones(src), "sum", **self)
    return noise.summed(y, noise.size("scattered", lambda: y.abs() * (factors - 1).clamp_min(0).sqrt()))


_SUMMED: dict[str, Callable[..., Any]] = {"sum": _sum, "add": _sum, "mean": _reduce_mean, "prod": _reduce_product}

SCATTERED: dict[str, Rule] = {"scatter_reduce": reduce_scattered, "index_reduce": by_rows}


_EMPTY = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}
_EXTREMES = {"max": "amax", "min": "amin"}


@dataclass(frozen=True)
class _Runs:
    """Rows (batch x length, rest), of each the number of its run, one past all where it is in none; and the lengths."""

    rows: Any
    place: Any  # (rows,)
    lengths: Any  # (runs, 1)
    shape: tuple[int, ...]  # of the result


def _find_runs(torch: Any, x: Any, lengths: Any, offsets: Any, axis: int) -> _Runs:
    lengths = (offsets.diff(dim=-1) if lengths is None else lengths).long()
    batch, n, runs = x.shape[:axis].numel(), x.shape[axis], lengths.shape[-1]
    ends = lengths.reshape(batch, runs).cumsum(-1)
    within = torch.searchsorted(ends, torch.arange(n).expand(batch, n).contiguous(), right=True)
    place = torch.where(within < runs, within + runs * torch.arange(batch)[:, None], batch * runs)
    shape = (*x.shape[:axis], runs, *x.shape[axis + 1 :])
    return _Runs(x.reshape(batch * n, -1), place.reshape(-1), lengths.reshape(-1, 1), shape)


def reduce_segments(
    noise: Arithmetic, func: Any, x: Any, reduce: str, *, lengths: Any = None, offsets: Any = None, axis: int = 0,
    initial: Any = None, **_: Any,
) -> Any:  # fmt: skip
    """segment_reduce; a mean of nothing is NaN, unless something is there before."""
    del func
    runs = _find_runs(noise.torch, x, lengths, offsets, axis)
    first = _EMPTY[reduce] if initial is None else float(initial)
    base = x.new_full((len(runs.lengths) + 1, runs.rows.shape[1]), first)
    if reduce in ("sum", "mean"):
        y = base.index_add(0, runs.place, runs.rows)[:-1]
    else:
        y = base.index_reduce(0, runs.place, runs.rows, _EXTREMES.get(reduce, reduce))[:-1]
    if reduce == "mean":
        some = runs.lengths > 0
        y = noise.torch.where(some, y / runs.lengths.clamp_min(1).double(), float("nan") if initial is None else y)
    return y.reshape(runs.shape)


def differentiate_segments(noise: Arithmetic, func: Any, g: Any, y: Any, x: Any, reduce: str, **options: Any) -> Any:
    """_segment_reduce_backward: equal extremes share."""
    del y
    return differentiate_steps(noise, partial(reduce_segments, noise, func, reduce=reduce, **options), [x], g)[0]


SEGMENTS: dict[str, Rule] = {"segment_reduce": reduce_segments, "_segment_reduce_backward": differentiate_segments}
