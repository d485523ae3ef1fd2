"""batch_norm: (x - mean) / sqrt(var + eps) per channel, weighted; the batch's own moments in training, given ones else.

Shapes: x (n, c, *), running_mean and running_var (c,) when not training, weight and bias (c,), each optional; y as x.
The batch's var is biased. Updating the running moments is no part of the operator.
Of an infinite weight it is infinite or, where x is multiplied and shifted by two numbers of its channel, NaN.
Gradient: through the batch's moments in training; dx = g weight / sqrt(running_var + eps) else. None for given moments.
Source: Ioffe, Szegedy, Batch Normalization (2015), algorithms 1 and 2.
PyTorch: torch.nn.functional.batch_norm. ONNX: BatchNormalization. ggml: none.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._norm import (
    affine,
    affine_vjp,
    is_lost_in_shifts,
    per_channel,
    standardise,
    standardise_vjp,
)

SIGNATURE = "(n,c,...),(c),(c),(c)?,(c)?"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "long sum")
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"running_var": Closed(0.0, math.inf)}


def _axes(x: Array) -> tuple[int, ...]:
    return (0, *range(2, x.ndim))


def _unit(
    x: Array, running_mean: Array | None, running_var: Array | None, training: bool, eps: float
) -> tuple[Array, Array]:
    if training or running_mean is None or running_var is None:
        return standardise(x, _axes(x), eps)
    scale = 1 / np.sqrt(per_channel(running_var, x.ndim) + eps)
    return (x - per_channel(running_mean, x.ndim)) * scale, scale


def forward(
    x: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    training: bool = False,
    eps: float = 1e-5,
) -> Array:
    return affine(_unit(x, running_mean, running_var, training, eps)[0], weight, bias)


def conventions(
    x: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    training: bool = False,
    eps: float = 1e-5,
) -> Iterator[Array]:
    y = forward(x, running_mean, running_var, weight, bias, training=training, eps=eps)
    scale = _unit(x, running_mean, running_var, training, eps)[1]
    if training or running_mean is None:
        mean = np.mean(x, axis=_axes(x), keepdims=True)
    else:
        mean = per_channel(running_mean, x.ndim)
    yield np.where(is_lost_in_shifts(x, mean, scale, weight, bias), np.nan, y)


def vjp(
    g: Array,
    y: Array,
    x: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    training: bool = False,
    eps: float = 1e-5,
) -> tuple[Array, None, None, Array | None, Array | None]:
    unit, scale = _unit(x, running_mean, running_var, training, eps)
    dunit, dweight, dbias = affine_vjp(g, unit, weight, bias)
    dx = standardise_vjp(dunit, unit, scale, _axes(x)) if training else dunit * scale
    return dx, None, None, dweight, dbias


def torch(
    torch: Any,
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    *,
    training: bool = False,
    eps: float = 1e-5,
) -> Any:
    mean, var = (None, None) if training else (running_mean.detach(), running_var.detach())
    return torch.nn.functional.batch_norm(x, mean, var, weight, bias, training=training, eps=eps)
