"""segment_reduce and its backward: sums, means, products and extremes of runs of rows, as additions by index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic
from opproof.harness.truth.torch.sums import Rule

_EMPTY = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}
_EXTREMES = {"max": "amax", "min": "amin"}


@dataclass(frozen=True)
class _Runs:
    """Rows (batch x length, rest), of each the number of its run, one past all where it is in none; and the lengths."""

    rows: Any
    place: Any  # (rows,)
    lengths: Any  # (runs, 1)
    shape: tuple[int, ...]  # of the result


def _runs(torch: Any, x: Any, lengths: Any, offsets: Any, axis: int) -> _Runs:
    lengths = (offsets.diff(dim=-1) if lengths is None else lengths).long()
    batch, n, runs = x.shape[:axis].numel(), x.shape[axis], lengths.shape[-1]
    ends = lengths.reshape(batch, runs).cumsum(-1)
    within = torch.searchsorted(ends, torch.arange(n).expand(batch, n).contiguous(), right=True)
    place = torch.where(within < runs, within + runs * torch.arange(batch)[:, None], batch * runs)
    shape = (*x.shape[:axis], runs, *x.shape[axis + 1 :])
    return _Runs(x.reshape(batch * n, -1), place.reshape(-1), lengths.reshape(-1, 1), shape)


def reduced(
    noise: Arithmetic, func: Any, x: Any, reduce: str, *, lengths: Any = None, offsets: Any = None, axis: int = 0,
    initial: Any = None, **_: Any,
) -> Any:  # fmt: skip
    """segment_reduce; a mean of nothing is NaN, unless something is there before."""
    del func
    runs = _runs(noise.torch, x, lengths, offsets, axis)
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


def reduced_backward(
    noise: Arithmetic, func: Any, g: Any, y: Any, x: Any, reduce: str, *, lengths: Any = None, offsets: Any = None,
    axis: int = 0, **_: Any,
) -> Any:  # fmt: skip
    """_segment_reduce_backward: equal extremes share; a product is divided by the factor, or made of the others."""
    del func
    torch = noise.torch
    runs = _runs(torch, x, lengths, offsets, axis)

    def by_row(of: Any) -> Any:
        flat = of.reshape(len(runs.lengths), -1)
        return torch.cat([flat, flat.new_zeros(1, flat.shape[1])]).index_select(0, runs.place)

    def counted(marks: Any) -> Any:
        none = runs.rows.new_zeros(len(runs.lengths) + 1, runs.rows.shape[1])
        return none.index_add(0, runs.place, marks.double()).index_select(0, runs.place)

    if reduce == "mean":
        g = g.reshape(len(runs.lengths), -1) / runs.lengths.clamp_min(1).double()
    each = by_row(g)
    if reduce in _EXTREMES:
        wins = runs.rows == by_row(y)
        each = torch.where(wins, each / counted(wins).clamp_min(1), 0.0)
    if reduce == "prod":
        zero = runs.rows == 0
        zeros, factors = counted(zero), runs.rows.masked_fill(zero, 1.0)
        ones = x.new_ones(len(runs.lengths) + 1, runs.rows.shape[1])
        others = ones.index_reduce(0, runs.place, factors, "prod").index_select(0, runs.place) / factors
        each = torch.where(zeros == zero, each * others, 0.0)
    return torch.where(runs.place[:, None] < len(runs.lengths), each, 0.0).reshape(x.shape)


SEGMENTS: dict[str, Rule] = {"segment_reduce": reduced, "_segment_reduce_backward": reduced_backward}
