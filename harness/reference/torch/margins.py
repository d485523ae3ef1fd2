"""Losses of margins between classes, and distances of pairs: what PyTorch has as one operation each, step by step."""

from __future__ import annotations

from typing import Any

from opproof.harness.reference.torch.arithmetic import Arithmetic
from opproof.harness.reference.torch.sums import Rule, differentiate_steps

#: PyTorch's number of the reduction by the mean.
_REDUCTION_MEAN = 1


def differentiate_multi_margin(
    noise: Arithmetic, func: Any, g: Any, x: Any, target: Any, p: Any, margin: Any, weight: Any = None,
    reduction: int = _REDUCTION_MEAN,
) -> Any:  # fmt: skip
    """multi_margin_loss_backward: of max(0, margin - x[target] + x[j])^p over the other classes j, by their number."""
    del func

    def compute(v: Any) -> Any:
        rows, labels = _reshape_to_rows(v), target.reshape(-1, 1)
        short = (margin - rows.gather(1, labels) + rows).relu()
        each = (short if p == 1 else short * short).scatter(1, labels, 0.0).sum(1) / rows.shape[1]
        return _reduce(each if weight is None else each * weight[target.reshape(-1)], v, reduction)

    return differentiate_steps(noise, compute, [x], g)[0]


def compute_multilabel_margin(noise: Arithmetic, func: Any, x: Any, target: Any, reduction: int) -> Any:
    """multilabel_margin_loss_forward: the loss, and which classes are labels.

    Of max(0, 1 - x[t] + x[j]) over labels t, up to the first -1, and others j.
    """
    del func
    rows, labels = _reshape_to_rows(x), _reshape_to_rows(target)
    listed = (labels < 0).cumsum(1) == 0
    times = noise.torch.zeros_like(rows).scatter_add(1, labels.clamp_min(0), listed.to(rows.dtype))
    short = (1 - rows[:, :, None] + rows[:, None, :]).relu()
    each = (short * times[:, :, None] * (times == 0)[:, None, :]).sum((1, 2)) / rows.shape[1]
    return _reduce(each, x, reduction), (times > 0).to(x.dtype).reshape(target.shape)


def differentiate_multilabel_margin(
    noise: Arithmetic, func: Any, g: Any, x: Any, target: Any, reduction: int, _: Any
) -> Any:
    """multilabel_margin_loss_backward."""

    def compute(v: Any) -> Any:
        return compute_multilabel_margin(noise, func, v, target, reduction)[0]

    return differentiate_steps(noise, compute, [x], g)[0]


def compute_pair_distances(noise: Arithmetic, func: Any, a: Any, p: float = 2.0) -> Any:
    """_pdist_forward: the distance of each row to those after it."""
    del func
    i, j = noise.torch.triu_indices(len(a), len(a), 1)
    return noise.torch.linalg.vector_norm(a[i] - a[j], p, -1)


def differentiate_pair_distances(noise: Arithmetic, func: Any, g: Any, a: Any, p: float, _: Any) -> Any:
    """_pdist_backward."""
    return differentiate_steps(noise, lambda v: compute_pair_distances(noise, func, v, p), [a], g)[0]


def _reshape_to_rows(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1] if x.dim() else 1)


def _reduce(each: Any, x: Any, reduction: int) -> Any:
    """The losses of rows as the reduction has them."""
    if reduction == 0:
        return each.reshape(x.shape[:-1])
    return each.mean() if reduction == _REDUCTION_MEAN else each.sum()


MARGINS: dict[str, Rule] = {
    "multi_margin_loss_backward": differentiate_multi_margin,
    "multilabel_margin_loss_forward": compute_multilabel_margin,
    "multilabel_margin_loss_backward": differentiate_multilabel_margin,
    "_pdist_forward": compute_pair_distances,
    "_pdist_backward": differentiate_pair_distances,
}
