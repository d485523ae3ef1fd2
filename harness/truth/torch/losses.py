"""Losses whose backward PyTorch has as one operation: margins between classes."""

from __future__ import annotations

from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic
from opproof.harness.truth.torch.sums import Rule

#: PyTorch's number of the reduction by the mean.
_MEAN = 1


def multi_margin_backward(
    noise: Arithmetic, func: Any, g: Any, x: Any, target: Any, p: Any, margin: Any, weight: Any = None, *rest: Any
) -> Any:
    """multi_margin_loss_backward: of max(0, margin - x[target] + x[j])^p over the other classes j, by their number."""
    del noise, func
    rows, labels = _rows(x), target.reshape(-1, 1)
    short = margin - rows.gather(1, labels) + rows
    slope = (short > 0) * (1.0 if p == 1 else 2 * short)
    if weight is not None:
        slope = slope * weight[labels]
    slope = slope.scatter(1, labels, 0.0) / rows.shape[1]
    slope = slope.scatter(1, labels, -slope.sum(1, keepdim=True))
    return (_each(g, slope, *rest) * slope).reshape(x.shape)


def multilabel_margin(noise: Arithmetic, func: Any, x: Any, target: Any, reduction: int) -> Any:
    """multilabel_margin_loss_forward: the loss, and which classes are labels."""
    del func
    rows, labels = _rows(x), _rows(target)
    listed = (labels < 0).cumsum(1) == 0
    times = noise.torch.zeros_like(rows).scatter_add(1, labels.clamp_min(0), listed.to(rows.dtype))
    short = (1 - rows[:, :, None] + rows[:, None, :]).clamp_min(0)
    each = (short * times[:, :, None] * (times == 0)[:, None, :]).sum((1, 2)) / rows.shape[1]
    loss = each.reshape(x.shape[:-1]) if reduction == 0 else each.mean() if reduction == _MEAN else each.sum()
    return loss, (times > 0).to(x.dtype).reshape(target.shape)


def multilabel_margin_backward(
    noise: Arithmetic, func: Any, g: Any, x: Any, target: Any, reduction: int, is_target: Any
) -> Any:
    """multilabel_margin_loss_backward: of max(0, 1 - x[t] + x[j]) over labels t, up to the first -1, and others j."""
    del func
    rows, labels = _rows(x), _rows(target)
    listed = (labels < 0).cumsum(1) == 0
    times = noise.torch.zeros_like(rows).scatter_add(1, labels.clamp_min(0), listed.to(rows.dtype))
    others = is_target.reshape(rows.shape) == 0
    short = 1 - rows[:, :, None] + rows[:, None, :] > 0  # by label, by other class
    pairs = short * times[:, :, None] * others[:, None, :]
    slope = (pairs.sum(1) - pairs.sum(2)) / rows.shape[1]
    return (_each(g, slope, reduction) * slope).reshape(x.shape)


def _rows(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1] if x.dim() else 1)


def _each(g: Any, rows: Any, reduction: int = _MEAN) -> Any:
    """The cotangent of each row."""
    return (g / rows.shape[0] if reduction == _MEAN else g).reshape(-1, 1)


LOSSES: dict[str, Rule] = {
    "multi_margin_loss_backward": multi_margin_backward,
    "multilabel_margin_loss_forward": multilabel_margin,
    "multilabel_margin_loss_backward": multilabel_margin_backward,
}
