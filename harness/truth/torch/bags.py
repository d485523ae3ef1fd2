"""Bags of embeddings: sums, means and maxima of rows, and their backward."""

from __future__ import annotations

from typing import Any

from opproof.core.errors import OpError
from opproof.harness.truth.torch.arithmetic import Arithmetic
from opproof.harness.truth.torch.sums import Rule

#: PyTorch's numbers of what is done to a bag.
_MEAN, _MAX = 1, 2


def bags(
    noise: Arithmetic, func: Any, weight: Any, indices: Any, offsets: Any, by_count: bool = False, mode: int = 0,
    sparse: bool = False, weights: Any = None, closed: bool = False, padding: int = -1,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """_embedding_bag: the bags, of each index its bag, sizes, and which row was the largest."""
    torch = noise.torch
    known = noise.decided(
        "bags", lambda: _plain(func, weight, indices, offsets, by_count, mode, sparse, None, closed, padding)
    )
    count = offsets.shape[0] - int(closed)
    bag = _bag_of(torch, indices, offsets[:count])
    sizes, largest = known[2], known[3]
    if mode == _MAX:
        y = weight.gather(0, largest.clamp_min(0))
        return torch.where((sizes > 0)[:, None], y, 0.0), bag, sizes, largest
    rows = weight.index_select(0, indices)
    rows = rows if weights is None else rows * weights[:, None]
    kept = indices != padding
    y = weight.new_zeros(count, weight.shape[1]).index_add(0, bag[kept], rows[kept])
    return (y / sizes.clamp_min(1)[:, None].double() if mode == _MEAN else y), bag, sizes, largest


def _plain(func: Any, *args: Any) -> Any:
    """PyTorch's own answer, in which positions are true."""
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        return func(*args)


def _bag_of(torch: Any, indices: Any, offsets: Any) -> Any:
    places = torch.arange(indices.shape[0])
    return torch.searchsorted(offsets.to(places.dtype).contiguous(), places, right=True) - 1


def bags_backward(
    noise: Arithmetic, func: Any, g: Any, indices: Any, offsets: Any, bag: Any, sizes: Any, largest: Any, rows: int,
    by_count: bool, mode: int, sparse: bool, weights: Any, padding: int = -1,
) -> Any:  # fmt: skip
    """_embedding_bag_backward."""
    del noise, func, offsets, sparse
    if by_count:
        raise OpError("embedding_bag of scale_grad_by_freq=True has no rule under noise: leave it out.")
    if mode == _MAX:
        held = sizes > 0
        return g.new_zeros(rows, g.shape[1]).scatter_add(0, largest[held], g[held])
    shares = g / sizes.clamp_min(1)[:, None].double() if mode == _MEAN else g
    each = shares.index_select(0, bag)
    each = each if weights is None else each * weights[:, None]
    kept = indices != padding
    return g.new_zeros(rows, g.shape[1]).index_add(0, indices[kept], each[kept])


def weights_backward(
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
    "_embedding_bag": bags,
    "_embedding_bag_forward_only": bags,
    "_embedding_bag_backward": bags_backward,
    "_embedding_bag_per_sample_weights_backward": weights_backward,
}
