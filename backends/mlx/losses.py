"""MLX's functions by operator: losses and steps of optimisers. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx import optimizers
from mlx.nn import losses

from opproof.backends.protocol import Unsupported


def _loss(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, target, *, reduction, **given: function(x, target, **given, reduction=reduction)


def _cross_entropy(
    x: Any, target: Any, weight: Any = None, *, ignore_index: int, label_smoothing: float, reduction: str
) -> Any:
    if weight is not None or ignore_index != -100:
        raise Unsupported("MLX's cross_entropy has no class weights and ignores no class")
    if target.ndim == x.ndim:
        raise Unsupported("MLX's cross_entropy takes a row's probabilities to add up to 1; opproof's targets do not")
    axis = 1 if x.ndim > 1 else 0
    return losses.cross_entropy(x, target, axis=axis, label_smoothing=label_smoothing, reduction=reduction)


def _nll_loss(x: Any, target: Any, weight: Any = None, *, ignore_index: int, reduction: str) -> Any:
    if weight is not None or ignore_index != -100:
        raise Unsupported("MLX's nll_loss has no class weights and ignores no class")
    return losses.nll_loss(x, target, axis=1 if x.ndim > 1 else 0, reduction=reduction)


def _bce(x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str) -> Any:
    if pos_weight is not None or (weight is not None and weight.shape != x.shape):
        raise Unsupported("MLX's binary_cross_entropy has no pos_weight, and weights in the shape of x only")
    return losses.binary_cross_entropy(x, target, weight, with_logits=True, reduction=reduction)


def _sgd(param: Any, grad: Any, *, lr: float, weight_decay: float) -> Any:
    return optimizers.SGD(lr, weight_decay=weight_decay).apply_single(grad, param, {})


def _adamw(
    param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any, *, lr: float, beta1: float, beta2: float, eps: float,
    weight_decay: float, step: int,
) -> Any:  # fmt: skip
    adamw = optimizers.AdamW(lr, [beta1, beta2], eps, weight_decay, bias_correction=True)
    adamw.state["step"] = mx.array(step, mx.uint64)
    state = {"m": exp_avg, "v": exp_avg_sq}
    return adamw.apply_single(grad, param, state), state["m"], state["v"]


TABLE: dict[str, Callable[..., Any]] = {
    "cross_entropy": _cross_entropy,
    "nll_loss": _nll_loss,
    "mse_loss": _loss(losses.mse_loss),
    "l1_loss": _loss(losses.l1_loss),
    "smooth_l1_loss": _loss(losses.smooth_l1_loss),
    "huber_loss": _loss(losses.huber_loss),
    "bce_with_logits": _bce,
    "opt_step_sgd": _sgd,
    "opt_step_adamw": _adamw,
}
