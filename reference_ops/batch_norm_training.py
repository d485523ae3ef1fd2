"""batch_norm_training: x standardised by the batch's own moments per channel, and the running moments moved to them.

    running' = (1 - momentum) running + momentum moment

Shapes: x (n, c, *), running_mean, running_var, weight and bias (c,), the last two optional; outputs y as x, then
running_mean and running_var. The batch's var is biased in y; in running_var it is that over n - 1 where unbiased.
Of infinities its var is NaN or inf, as var's, and its mean inf or, by Welford's updates, NaN; running moments that are
infinite stay so or, moved by momentum (moment - running), become NaN.
Gradient: none here, running moments have none; that of y is batch_norm's in training.
Source: Ioffe, Szegedy, Batch Normalization (2015), algorithm 2; PyTorch's documentation of BatchNorm1d.
PyTorch: torch.nn.functional.batch_norm (training, with running moments). ONNX: BatchNormalization (training_mode = 1;
its momentum is 1 - ours, its var biased). ggml: none.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._axes import unbounded
from opproof.reference_ops._norm import affine, is_lost_in_shifts, moments, standardise
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,c,...),(c),(c),(c)?,(c)?"
OUTPUTS = ("y", "running_mean", "running_var")
APART = True
TRAITS = ("rowwise", "statistic", "long sum")
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"running_var": Closed(0.0, math.inf)}


def forward(
    x: Array,
    running_mean: Array,
    running_var: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    momentum: float = 0.1,
    unbiased: bool = True,
    eps: float = 1e-5,
) -> tuple[Array, Array, Array]:
    y = affine(standardise(x, _axes(x), eps)[0], weight, bias)
    if not x.size:  # of nothing there are no moments, and those that were stay
        return y, running_mean, running_var
    mean, var = _moments(x, unbiased)
    keep = 1 - momentum
    return y, keep * running_mean + momentum * mean, keep * running_var + momentum * var


def _axes(x: Array) -> tuple[int, ...]:
    return (0, *range(2, x.ndim))


def _moments(x: Array, unbiased: bool) -> tuple[Array, Array]:
    """Mean and variance of every channel, in two passes."""
    n = math.prod(x.shape[a] for a in _axes(x))
    mean = np.mean(x, axis=_axes(x), keepdims=True)
    squares = np.sum((x - mean) * (x - mean), axis=_axes(x))
    return np.reshape(mean, (-1,)), squares / (n - 1 if unbiased else n)


def conventions(
    x: Array, running_mean: Array, running_var: Array, *weights: Array | None, **params: Any
) -> Iterator[tuple[Array, Array, Array]]:
    y, *shares = forward(x, running_mean, running_var, *weights, **params)
    weight, bias = (*weights, None, None)[:2]
    y = np.where(is_lost_in_shifts(x, *moments(x, _axes(x), params["eps"]), weight, bias), np.nan, y)
    infinite = unbounded(x, _axes(x))
    yield y, np.where(infinite, np.nan, shares[0]), np.where(infinite, np.inf, shares[1])
    mean, var = _moments(x, params["unbiased"])
    momentum = params["momentum"]
    moved = running_mean + momentum * (mean - running_mean)  # by a distance that is no number from an infinity there
    for spread in (var, np.where(infinite, np.inf, var)):
        yield y, moved, running_var + momentum * (spread - running_var)


def torch(
    torch: Any,
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    momentum: float = 0.1,
    unbiased: bool = True,
    eps: float = 1e-5,
) -> tuple[Any, Any, Any]:
    # Moments and weights stand in float32 at least beside 16-bit data, as in mixed precision.
    mean, var, weight, bias = widened(torch, running_mean.clone(), running_var.clone(), weight, bias)
    before = var.clone()
    y = torch.nn.functional.batch_norm(x, mean, var, weight, bias, training=True, momentum=momentum, eps=eps)
    if not unbiased:  # which PyTorch has not: its step, with the other var
        biased = torch.var(*widened(torch, x), dim=(0, *range(2, x.dim())), correction=0)
        var = before * (1 - momentum) + momentum * biased
    return y, mean.to(x.dtype), var.to(x.dtype)
