"""scatter_reduce and index_reduce: sums, means, products and extremes by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opproof.core.errors import OpError
from opproof.harness.truth.torch.arithmetic import Arithmetic
from opproof.harness.truth.torch.sums import Rule, by_index


def scattered(
    noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """scatter_reduce. Raises OpError where `reduce` has no rule."""
    if not x.dim():
        y = scattered(noise, func, x[None], 0, index.reshape(-1), src.reshape(-1), reduce, include_self=include_self)
        return y[0]
    if reduce in ("amax", "amin"):
        return _extreme(noise, func, x, dim, index, src, reduce, include_self=include_self)
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
    return scattered(noise, full, x, dim, places, src, reduce, include_self=include_self)


def _extreme(noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, reduce: str, **self: Any) -> Any:
    """Of several the exact evaluation chooses the place, -1 where x stays; the value has its noise."""

    def winners() -> Any:
        y = func(x, dim, index, src, reduce, **self)
        shape = [-1 if axis == dim % src.dim() else 1 for axis in range(src.dim())]
        rows = noise.torch.arange(src.shape[dim]).reshape(shape).expand(src.shape)
        inside = rows[tuple(slice(n) for n in index.shape)]
        wins = src[tuple(slice(n) for n in index.shape)] == y.gather(dim, index)
        none = noise.torch.full(x.shape, -1)
        return none.scatter_reduce(dim, index, inside.where(wins, -1), "amax")

    winner = noise.decided("scattered", winners)
    if noise.exact or not src.numel():
        return func(x, dim, index, src, reduce, **self)
    y = x.clone()
    inside = tuple(slice(None) if axis == dim % src.dim() else slice(n) for axis, n in enumerate(src.shape))
    y[inside] = src.gather(dim, winner[inside].clamp_min(0)).where(winner[inside] >= 0, x[inside])
    return y


def _sum(noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, **self: Any) -> Any:
    return by_index(noise, func, x, dim, index, src, "sum", **self)


def _mean(noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, **self: Any) -> Any:
    ones = noise.torch.ones_like
    counts = func(ones(x), dim, index, ones(src), "sum", **self)
    return noise.rounded(_sum(noise, func, x, dim, index, src, **self) / counts)


def _product(noise: Arithmetic, func: Any, x: Any, dim: int, index: Any, src: Any, **self: Any) -> Any:
    """Every factor but one rounds once: as so many roundings of the result."""
    y = func(x, dim, index, src, "prod", **self)
    ones = noise.torch.ones_like
    factors = func(ones(x), dim, index, ones(src), "sum", **self)
    return noise.summed(y, noise.size("scattered", lambda: y.abs() * (factors - 1).clamp_min(0).sqrt()))


_SUMMED: dict[str, Callable[..., Any]] = {"sum": _sum, "add": _sum, "mean": _mean, "prod": _product}

SCATTERED: dict[str, Rule] = {"scatter_reduce": scattered, "index_reduce": by_rows}
